import { LAST_OUTCOME_LUA } from './last-outcome-lua.js';
import { LINE_LUA, STOP_LUA } from './line-lua.js';
import { FINISHED_KEEP_MS, RUN_LUA } from './run-lua.js';
import { redisScript } from './redis-script.js';
import { PAYLOAD } from './stream-scripts.js';

/**
 * KEYS run, running, results, waiting, stops, last outcome
 * ARGV event id, mark, prefix of queue keys, channel of stops, group, final report if no attempt began, final report if one did, slot,
 * finished at and status of the latter
 * result 'requested', 'ended' or 'finished'.
 * A live claim is asked to stop. Any other run is finished, by no worker, with its message, place in line and mark gone; one without a
 * run hash gets one that is finished.
 */
export const CANCEL = redisScript(`
${RUN_LUA}
${LINE_LUA}
${STOP_LUA}
${LAST_OUTCOME_LUA}
local RUN, RUNNING, RESULTS, WAITING, STOPS, LAST = unpack(KEYS)
local ID, MARK, QUEUES, CHANNEL, GROUP, UNBEGUN, BEGUN, SLOT, ENDED_AT, STATUS = unpack(ARGV)
local now, run = nowMs(), readRun(RUN)
local isKnown = run and run.id == ID
if isKnown and run.state == 'finished' then return 'finished' end
if isKnown and isClaimLive(run, now) then
  askToStop(STOPS, CHANNEL, ID, 'cancelled')
  return 'requested'
end
if isKnown then
  dropEntry(QUEUES .. run.pool, GROUP, run.entry)
  redis.call('ZREM', RUNNING, ID, MARK)
  redis.call('ZREM', WAITING, memberOf(ID, RUN))
  redis.call('HDEL', RUN, 'message', 'worker')
end
if isKnown or not run then
  redis.call('HSET', RUN, 'id', ID, 'state', 'finished')
  redis.call('PEXPIRE', RUN, ${FINISHED_KEEP_MS})
end
redis.call('HDEL', STOPS, ID)
local hasBegun = isKnown and tonumber(run.attempt or 0) > 0
redis.call('XADD', RESULTS, '*', '${PAYLOAD}', hasBegun and BEGUN or UNBEGUN)
if hasBegun then noteOutcome(LAST, SLOT, ENDED_AT, STATUS) end
advance({running = RUNNING, waiting = WAITING, queues = QUEUES})
return 'ended'
`);
