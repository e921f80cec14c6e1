import { RUN_KEEP_MS } from './run-lua.js';
import { PAYLOAD } from './stream-scripts.js';

/**
 * The line of a task: its runs that wait for a running mark, as a sorted set by slot, then by id. A member is the event id, a blank and
 * the key of the run. A run keeps its place until it is claimed or ends; at its turn its message goes from the run hash into the stream
 * of its pool (the run is `queued` then), and whoever claims it finds out whether there is still room.
 * Needs RUN_LUA in front. `at` is a table of the keys `running`, `waiting`, `stops` and of the `queues` prefix.
 */
export const LINE_LUA = `
local function memberOf(id, key)
  return id .. ' ' .. key
end

-- Puts the message of a run that waits into its pool's stream.
local function handOut(at, key, run)
  local entry = redis.call('XADD', at.queues .. run.pool, '*', '${PAYLOAD}', redis.call('HGET', key, 'message'))
  redis.call('HDEL', key, 'message')
  redis.call('HSET', key, 'state', 'queued', 'entry', entry)
  redis.call('PEXPIRE', key, ${RUN_KEEP_MS})
end

-- Hands out from the head of the line while there is room.
local function advance(at)
  if redis.call('EXISTS', at.waiting) == 0 then return end
  redis.call('ZREMRANGEBYSCORE', at.running, '-inf', nowMs())
  local place, marks = 0, redis.call('ZCARD', at.running)
  while true do
    local member = redis.call('ZRANGE', at.waiting, place, place)[1]
    if not member then return end
    local id, key = string.match(member, '^(%S+) (.+)$')
    local run = readRun(key)
    if not run or run.id ~= id or (run.state ~= 'waiting' and run.state ~= 'queued') then
      redis.call('ZREM', at.waiting, member)
    elseif marks + place >= tonumber(run.limit) then
      return
    else
      if run.state == 'waiting' then handOut(at, key, run) end
      place = place + 1
    end
  end
end
`;

/** Asks a run to stop, once; ARGV-free. `channel` is where workers listen. */
export const STOP_LUA = `
local function askToStop(stops, channel, id, reason)
  redis.call('HSETNX', stops, id, reason)
  redis.call('PEXPIRE', stops, ${RUN_KEEP_MS})
  redis.call('PUBLISH', channel, id .. ' ' .. redis.call('HGET', stops, id))
end
`;
