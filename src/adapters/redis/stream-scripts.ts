import { redisScript } from './redis-script.js';

/** Name of the one field of every stream entry; its value is JSON. */
export const PAYLOAD = 'json';

/**
 * Takes entries without waiting: first those that were handed to a lost name of this taker, then those whose taker was silent for too
 * long, then new ones, lane by lane; lanes with more than their share get what others leave over. Also forgets takers of earlier days that hold nothing.
 * KEYS streams · ARGV group, taker, max, idle ms after which an entry is taken over (0 = take none over), idle ms after which a taker is
 * forgotten, lost names of this taker… · result {taken over, {index of the stream in KEYS, entry id, payload or ''}…}.
 * Each entry goes to one taker. A missing group or stream is made, so that entries of a stream that outlived its group come again.
 */
export const TAKE = redisScript(`
local group, taker, room = ARGV[1], ARGV[2], tonumber(ARGV[3])
local taken = {0}

local function add(index, entries)
  for i = 1, #entries do
    local entry = entries[i]
    if entry and entry[2] then
      local payload = ''
      if entry[2][1] == '${PAYLOAD}' then payload = entry[2][2] end
      taken[#taken + 1] = {index, entry[1], payload}
      room = room - 1
    end
  end
end

local function call(key, ...)
  local answer = redis.pcall(...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  if not string.find(answer.err, 'NOGROUP') then error(answer.err, 0) end
  redis.call('XGROUP', 'CREATE', key, group, '0', 'MKSTREAM')
  return redis.call(...)
end

local function takeOver(index, key)
  local cursor = '0-0'
  repeat
    local answer = call(key, 'XAUTOCLAIM', key, group, taker, ARGV[4], cursor, 'COUNT', room)
    cursor = answer[1]
    add(index, answer[2])
  until cursor == '0-0' or room == 0
end

local function recover(index, key)
  for i = 6, #ARGV do
    local ids = {}
    for _, pending in ipairs(call(key, 'XPENDING', key, group, '-', '+', math.min(room, 1000), ARGV[i])) do
      ids[#ids + 1] = pending[1]
    end
    if #ids > 0 then add(index, call(key, 'XCLAIM', key, group, taker, 0, unpack(ids))) end
    if room == 0 then return end
  end
end

local function forgetTakers(key)
  for _, info in ipairs(call(key, 'XINFO', 'CONSUMERS', key, group)) do
    local of = {}
    for i = 1, #info, 2 do of[info[i]] = info[i + 1] end
    if of.pending == 0 and of.idle > tonumber(ARGV[5]) then
      redis.call('XGROUP', 'DELCONSUMER', key, group, of.name)
    end
  end
end

local function read(index, key, count)
  local answer = call(key, 'XREADGROUP', 'GROUP', group, taker, 'COUNT', count, 'STREAMS', key, '>')
  if answer then add(index, answer[1][2]) end
end

for i, key in ipairs(KEYS) do
  if room > 0 then recover(i, key) end
end
if ARGV[4] ~= '0' then
  local before = #taken
  for i, key in ipairs(KEYS) do
    if room > 0 then takeOver(i, key) end
    forgetTakers(key)
  end
  taken[1] = #taken - before
end
for i, key in ipairs(KEYS) do
  if room > 0 then read(i, key, math.ceil(room / (#KEYS - i + 1))) end
end
for i, key in ipairs(KEYS) do
  if room > 0 and #KEYS > 1 then read(i, key, room) end
end
return taken
`);

/** KEYS stream · ARGV group, entry ids… · result: entries removed. Idempotent. */
export const ACKNOWLEDGE = redisScript(`
redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, 2))
return redis.call('XDEL', KEYS[1], unpack(ARGV, 2))
`);

/** KEYS stream · no ARGV · result {entries, age of the oldest in ms by the server's clock or 0}. */
export const BACKLOG = redisScript(`
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if not oldest then return {0, 0} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return {redis.call('XLEN', KEYS[1]), math.max(0, now - tonumber(string.match(oldest[1], '^%d+')))}
`);
