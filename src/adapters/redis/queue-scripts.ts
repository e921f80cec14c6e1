import { redisScript } from './redis-script.js';
import { LINE_LUA } from './line-lua.js';
import { RUN_LUA } from './run-lua.js';
import { PAYLOAD } from './stream-scripts.js';

/** KEYS epoch · ARGV a random string · result: the one that was stored first, which dies only with the data. */
export const EPOCH = redisScript(`
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
`);

/**
 * KEYS pools, {run, queue}… · ARGV ms to keep a run, prefix of queue keys, {event id, pool, message}… · result {outcome…}.
 * Per message: takes the slot lock and adds the message, or adds nothing. A run that lost its message, and is not being run, gets the
 * message again and keeps its claim history. A run that waits lets its line advance; the keys of that are built from its own.
 */
export const PUBLISH = redisScript(`
${RUN_LUA}
${LINE_LUA}
local now = nowMs()
local outcomes, knownPools = {}, {}
for i = 1, (#KEYS - 1) / 2 do
  local key, queue = KEYS[2 * i], KEYS[2 * i + 1]
  local id, pool, message = ARGV[3 * i], ARGV[3 * i + 1], ARGV[3 * i + 2]
  local run = readRun(key)
  if run and run.id ~= id then
    outcomes[i] = 'duplicate'
  elseif run and run.state == 'waiting' then
    local prefix, task = string.match(key, '^(ax:{.-}:)run:(.+):%a+:%-?%d+$')
    advance({running = prefix .. 'running:' .. task, waiting = prefix .. 'waiting:' .. task, queues = ARGV[2]})
    outcomes[i] = 'known'
  elseif run and (run.state == 'finished' or isClaimLive(run, now) or hasEntry(ARGV[2] .. run.pool, run.entry)) then
    outcomes[i] = 'known'
  else
    local entry = redis.call('XADD', queue, '*', '${PAYLOAD}', message)
    redis.call('HSET', key, 'id', id, 'state', 'queued', 'pool', pool, 'entry', entry)
    redis.call('PEXPIRE', key, ARGV[1])
    if not knownPools[pool] then redis.call('SADD', KEYS[1], pool) end
    knownPools[pool] = true
    outcomes[i] = 'added'
  end
end
return outcomes
`);

/**
 * KEYS run… · ARGV prefix of queue keys, event id… · result {state…}. Changes nothing.
 * A run whose message is gone, and is not being run, is as unknown as one without a key.
 */
export const STATES = redisScript(`
${RUN_LUA}
local now = nowMs()
local states = {}
for i, key in ipairs(KEYS) do
  local run = readRun(key)
  if not run or run.id ~= ARGV[i + 1] then
    states[i] = 'unknown'
  elseif run.state == 'finished' then
    states[i] = 'finished'
  elseif run.state == 'waiting' then
    states[i] = 'waiting'
  elseif isClaimLive(run, now) then
    states[i] = 'claimed'
  else
    states[i] = hasEntry(ARGV[1] .. run.pool, run.entry) and 'queued' or 'unknown'
  end
end
return states
`);

/**
 * KEYS pools · ARGV prefix of queue keys, group · result {lane, waiting, taken, wait of the oldest in ms…}. Changes nothing; the keys of the
 * streams are built from the names in the set. The wait is since the message got its entry.
 */
export const LANES = redisScript(`
${RUN_LUA}
local now, lanes = nowMs(), {}
for _, pool in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local queue = ARGV[1] .. pool
  local taken, last, wait = 0, '0-0', 0
  for _, info in ipairs(redis.call('EXISTS', queue) == 1 and redis.call('XINFO', 'GROUPS', queue) or {}) do
    local of = {}
    for i = 1, #info, 2 do of[info[i]] = info[i + 1] end
    if of.name == ARGV[2] then taken, last = of.pending, of['last-delivered-id'] end
  end
  local oldest = redis.call('XRANGE', queue, '(' .. last, '+', 'COUNT', 1)[1]
  if oldest then wait = math.max(0, now - tonumber(string.match(oldest[1], '^%d+'))) end
  for _, value in ipairs({pool, redis.call('XLEN', queue) - taken, taken, wait}) do lanes[#lanes + 1] = value end
end
return lanes
`);

/**
 * KEYS run, queue · ARGV event id, pool, entry, group · result 1 = put back, 0 = left alone, because a live claim runs it, it waits or it is over.
 */
export const GIVE_BACK = redisScript(`
${RUN_LUA}
local run = readRun(KEYS[1])
local counts = run and run.id == ARGV[1] and run.pool == ARGV[2] and run.entry == ARGV[3]
if counts and (run.state == 'finished' or run.state == 'waiting' or isClaimLive(run, nowMs())) then return 0 end
local entry = putBack(KEYS[2], ARGV[4], ARGV[3])
if counts then redis.call('HSET', KEYS[1], 'entry', entry) end
return 1
`);
