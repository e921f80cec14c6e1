import { LAST_OUTCOME_LUA } from './last-outcome-lua.js';
import { LINE_LUA } from './line-lua.js';
import { FINISHED_KEEP_MS, RUN_KEEP_MS, RUN_LUA } from './run-lua.js';
import { PAYLOAD } from './stream-scripts.js';

/**
 * What a held claim may do; the states are in claim-script.ts. A call by a claim compares id, worker and generation, so a claim that was
 * overtaken can change nothing any more. Each is the source of a ScriptBatch, with
 * KEYS run, running, queue, results, waiting, stops · ARGV event id, mark, worker, generation, pool, entry, prefix of queue keys, group, …
 */
const HELD_LUA = `
local RUN, RUNNING, QUEUE, RESULTS, WAITING, STOPS = unpack(KEYS)
local ID, MARK, WORKER, GENERATION, POOL, ENTRY, QUEUES, GROUP = unpack(ARGV)
local at = {running = RUNNING, waiting = WAITING, queues = QUEUES}

local function isOurs(run)
  return run and run.id == ID and run.worker == WORKER and run.generation == GENERATION
end

-- The given run if the calling claim is its latest one and has not ended, else nil. A claim that the store has lost is written again, with
-- a mark for whatever prolongs it; how far it got is lost too, so it counts as begun.
local function held(run)
  if run then return isOurs(run) and run.state == 'claimed' and run or nil end
  redis.call('HSET', RUN, 'id', ID, 'state', 'claimed', 'worker', WORKER, 'generation', GENERATION, 'pool', POOL,
    'entry', ENTRY, 'ends', 0, 'marked', 1, 'attempt', 1, 'failures', 0, 'awaiting', 0, 'retry_at', 0, 'handed_back', 0)
  redis.call('ZADD', RUNNING, 0, MARK)
  redis.call('PEXPIRE', RUNNING, ${RUN_KEEP_MS})
  return {marked = '1', attempt = '1', failures = '0'}
end

-- A mark outlives its claim while the target works on and its receipt is awaited; that of a run which is handed over also until its retry.
local function keepMark(run, awaiting)
  redis.call('ZADD', RUNNING, 'XX', math.max(run.ends or 0, awaiting), MARK)
end

local function queueReport(report)
  redis.call('XADD', RESULTS, '*', '${PAYLOAD}', report)
end
`;

/**
 * ARGV …, ttl ms · result 0 = lost, 1 = alive, or the reason why it was asked to stop.
 * Also keeps the entry from being taken over, by resetting its idle time. A mark that expired is taken again only if there is room.
 */
export const RENEW_CLAIM = `
${HELD_LUA}
local now, run = nowMs(), held(readRun(RUN))
if not run then return 0 end
local ends = now + ARGV[9]
if run.marked == '1' then
  if run.limit and not redis.call('ZSCORE', RUNNING, MARK) then
    redis.call('ZREMRANGEBYSCORE', RUNNING, '-inf', now)
    if redis.call('ZCARD', RUNNING) >= tonumber(run.limit) then
      redis.call('HSET', RUN, 'state', 'queued')
      return 0
    end
  end
  redis.call('ZADD', RUNNING, math.max(ends, tonumber(run.awaiting or 0)), MARK)
  redis.call('PEXPIRE', RUNNING, ${RUN_KEEP_MS})
end
redis.call('HSET', RUN, 'ends', ends)
redis.call('PEXPIRE', RUN, ${RUN_KEEP_MS})
redis.pcall('XCLAIM', QUEUE, GROUP, WORKER, 0, ENTRY, 'JUSTID')
return redis.call('HGET', STOPS, ID) or 1
`;

/**
 * ARGV …, report, attempt, failures, awaiting until or 0, retry at or 0 · result 1 = queued, 0 = the claim was lost.
 * Does not prolong the claim.
 */
export const REPORT = `
${HELD_LUA}
local run = held(readRun(RUN))
if not run then return 0 end
local attempt, failures = tonumber(ARGV[10]), tonumber(ARGV[11])
redis.call('HSET', RUN, 'attempt', math.max(tonumber(run.attempt), attempt),
  'failures', math.max(tonumber(run.failures), failures))
if attempt >= tonumber(run.attempt) then
  redis.call('HSET', RUN, 'awaiting', ARGV[12], 'retry_at', ARGV[13])
  keepMark(run, ARGV[12])
end
redis.call('PEXPIRE', RUN, ${RUN_KEEP_MS})
queueReport(ARGV[9])
return 1
`;

/**
 * ARGV …, report, key of the task's last outcome, slot, finished at, status or '' if it was no run
 * result 1 = finished by this claim, now or before; 0 = the claim was lost. The report is queued once.
 */
export const FINISH = `
${HELD_LUA}
local known = readRun(RUN)
if isOurs(known) and known.state == 'finished' then return 1 end
if not held(known) then return 0 end
redis.call('HSET', RUN, 'state', 'finished')
redis.call('PEXPIRE', RUN, ${FINISHED_KEEP_MS})
redis.call('ZREM', RUNNING, MARK)
redis.call('HDEL', STOPS, ID)
dropEntry(QUEUE, GROUP, ENTRY)
queueReport(ARGV[9])
if ARGV[13] ~= '' then noteOutcome(ARGV[10], ARGV[11], ARGV[12], ARGV[13]) end
advance(at)
return 1
`;

/**
 * ARGV …, report · result 1 = abandoned, 0 = the claim was lost.
 * The run hash goes with the message, so that the run is unknown. A stop is kept: it counts if the run comes again.
 */
export const ABANDON = `
${HELD_LUA}
local known = readRun(RUN)
if not known or not held(known) then return 0 end
redis.call('DEL', RUN)
redis.call('ZREM', RUNNING, MARK)
dropEntry(QUEUE, GROUP, ENTRY)
queueReport(ARGV[9])
advance(at)
return 1
`;

/**
 * ARGV …, report, attempt, failures, awaiting until or 0, retry at or 0
 * result 1 = handed back by this claim, now or before; 0 = the claim was lost. The report is queued once. A run that has begun keeps its
 * mark, for as long as the claim would have lived.
 */
export const HAND_BACK = `
${HELD_LUA}
local known = readRun(RUN)
if isOurs(known) and known.handed_back == '1' and (known.state == 'queued' or known.state == 'waiting') then return 1 end
local run = held(known)
if not run then return 0 end
redis.call('HSET', RUN, 'attempt', ARGV[10], 'failures', ARGV[11], 'awaiting', ARGV[12], 'retry_at', ARGV[13])
if ARGV[10] == '0' then redis.call('ZREM', RUNNING, MARK) else keepMark(run, math.max(ARGV[12], ARGV[13])) end
redis.call('HSET', RUN, 'state', 'queued', 'handed_back', 1, 'entry', putBack(QUEUE, GROUP, ENTRY))
redis.call('PEXPIRE', RUN, ${RUN_KEEP_MS})
queueReport(ARGV[9])
advance(at)
return 1
`;

/** What these scripts call. */
export const HELD_CLAIM_LIBRARY = RUN_LUA + LINE_LUA + LAST_OUTCOME_LUA;
