import { RUN_LUA } from './run-lua.js';
import { PAYLOAD } from './stream-scripts.js';

/**
 * Claims of runs. Their states, with T = the server's clock:
 *   queued ─claim→ claimed ─finish→ finished
 *   claimed ─handBack→ queued
 *   claimed ─claim by anyone, once T has passed its end→ claimed with the next generation
 *   claimed ─renew, when its mark expired and others took the place→ queued: the claim is lost
 * A call by a claim compares id, worker and generation, so a claim that was overtaken can change nothing any more.
 *
 * Each is the source of a ScriptBatch. Every script about a held claim has ARGV[1..5] = event id, worker, generation, pool, entry.
 */
const CLAIM_LUA = `
${RUN_LUA}
-- Whether the run hash says that the calling claim is the latest one and has not ended.
local function isHeld(run)
  return run.id == ARGV[1] and run.state == 'claimed' and run.worker == ARGV[2] and run.generation == ARGV[3]
end

-- Writes a claim that the store has lost. How far it got is lost too, so it counts as begun.
local function assertClaim()
  redis.call('HSET', KEYS[1], 'id', ARGV[1], 'state', 'claimed', 'worker', ARGV[2], 'generation', ARGV[3],
    'pool', ARGV[4], 'entry', ARGV[5], 'ends', 0, 'marked', 1, 'attempt', 1, 'failures', 0, 'handed_back', 0)
end

local function keepProgress(run, attempt, failures)
  redis.call('HSET', KEYS[1], 'attempt', math.max(tonumber(run and run.attempt or 0), tonumber(attempt)),
    'failures', math.max(tonumber(run and run.failures or 0), tonumber(failures)))
end
`;

/**
 * KEYS run, running, queue, results · ARGV event id, worker, generation floor, pool, entry, ttl ms, max_concurrent, ms to keep a run,
 * group, report for a first claim or ''
 * result {'claimed', generation, 1 = marked, previous worker or '', its generation, attempt, failures, 1 = handed back},
 * {'held'} or {'finished'}.
 * Of any number of concurrent claims of one run one succeeds; at most max_concurrent live claims of a task are marked. The entry that is
 * claimed is the one that counts: another copy of the message is dropped. An entry that is gone has been dealt with.
 */
export const CLAIM = `
${CLAIM_LUA}
local now = nowMs()
if not hasEntry(KEYS[3], ARGV[5]) then return {'finished'} end
local run = readRun(KEYS[1])
if run and run.id ~= ARGV[1] then
  dropEntry(KEYS[3], ARGV[9], ARGV[5])
  return {'held'}
end
if run and run.state == 'finished' then
  dropEntry(KEYS[3], ARGV[9], ARGV[5])
  return {'finished'}
end
if run and isClaimLive(run, now) then
  if run.pool ~= ARGV[4] or run.entry ~= ARGV[5] then dropEntry(KEYS[3], ARGV[9], ARGV[5]) end
  return {'held'}
end

local previous = run or {}
local generation = math.max(tonumber(previous.generation or 0), tonumber(ARGV[3])) + 1
local attempt, failures = previous.attempt or 0, previous.failures or 0
local began = 0
local ends = now + ARGV[6]

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('ZREM', KEYS[2], ARGV[1])
local marked = redis.call('ZCARD', KEYS[2]) < tonumber(ARGV[7]) and 1 or 0
if marked == 1 then
  redis.call('ZADD', KEYS[2], ends, ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[8])
  if not previous.worker and ARGV[10] ~= '' then
    redis.call('XADD', KEYS[4], '*', '${PAYLOAD}', ARGV[10])
    began = 1
  end
end
redis.call('HSET', KEYS[1], 'id', ARGV[1], 'state', 'claimed', 'pool', ARGV[4], 'entry', ARGV[5], 'worker', ARGV[2],
  'generation', generation, 'ends', ends, 'marked', marked, 'limit', ARGV[7], 'attempt', math.max(attempt, began),
  'failures', failures, 'handed_back', 0)
redis.call('PEXPIRE', KEYS[1], ARGV[8])
redis.pcall('XCLAIM', KEYS[3], ARGV[9], ARGV[2], 0, ARGV[5], 'JUSTID')
return {'claimed', generation, marked, previous.worker or '', tonumber(previous.generation or 0), tonumber(attempt),
  tonumber(failures), tonumber(previous.handed_back or 0)}
`;

/**
 * KEYS run, running, queue · ARGV …, ttl ms, ms to keep a run, group · result 1 = alive, 0 = lost.
 * Also keeps the entry from being taken over, by resetting its idle time. A mark that expired is taken again only if there is room.
 */
export const RENEW_CLAIM = `
${CLAIM_LUA}
local now = nowMs()
local run = readRun(KEYS[1])
if not run then
  assertClaim()
  run = {marked = '1'}
elseif not isHeld(run) then
  return 0
end
local ends = now + ARGV[6]
if run.marked == '1' then
  if run.limit and not redis.call('ZSCORE', KEYS[2], ARGV[1]) then
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
    if redis.call('ZCARD', KEYS[2]) >= tonumber(run.limit) then
      redis.call('HSET', KEYS[1], 'state', 'queued')
      return 0
    end
  end
  redis.call('ZADD', KEYS[2], ends, ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[7])
end
redis.call('HSET', KEYS[1], 'ends', ends)
redis.call('PEXPIRE', KEYS[1], ARGV[7])
redis.pcall('XCLAIM', KEYS[3], ARGV[8], ARGV[2], 0, ARGV[5], 'JUSTID')
return 1
`;

/**
 * KEYS run, results · ARGV …, report, attempt, failures, ms to keep a run · result 1 = queued, 0 = the claim was lost.
 * Does not prolong the claim.
 */
export const REPORT = `
${CLAIM_LUA}
local run = readRun(KEYS[1])
if not run then assertClaim() elseif not isHeld(run) then return 0 end
keepProgress(run, ARGV[7], ARGV[8])
redis.call('PEXPIRE', KEYS[1], ARGV[9])
redis.call('XADD', KEYS[2], '*', '${PAYLOAD}', ARGV[6])
return 1
`;

/**
 * KEYS run, running, queue, results · ARGV …, report, ms to keep a finished run, group
 * result 1 = finished by this claim, now or before; 0 = the claim was lost. The report is queued once.
 */
export const FINISH = `
${CLAIM_LUA}
local run = readRun(KEYS[1])
if run and run.id == ARGV[1] and run.state == 'finished' and run.worker == ARGV[2] and run.generation == ARGV[3] then
  return 1
end
if not run then assertClaim() elseif not isHeld(run) then return 0 end
redis.call('HSET', KEYS[1], 'state', 'finished')
redis.call('PEXPIRE', KEYS[1], ARGV[7])
redis.call('ZREM', KEYS[2], ARGV[1])
dropEntry(KEYS[3], ARGV[8], ARGV[5])
redis.call('XADD', KEYS[4], '*', '${PAYLOAD}', ARGV[6])
return 1
`;

/**
 * KEYS run, running, queue, results · ARGV …, report, group · result 1 = abandoned, 0 = the claim was lost.
 * The run hash goes with the message, so that the run is unknown.
 */
export const ABANDON = `
${CLAIM_LUA}
local run = readRun(KEYS[1])
if not run or not isHeld(run) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
dropEntry(KEYS[3], ARGV[7], ARGV[5])
redis.call('XADD', KEYS[4], '*', '${PAYLOAD}', ARGV[6])
return 1
`;

/**
 * KEYS run, running, queue, results · ARGV …, report, attempt, failures, ms to keep a run, group
 * result 1 = handed back by this claim, now or before; 0 = the claim was lost. The report is queued once.
 */
export const HAND_BACK = `
${CLAIM_LUA}
local run = readRun(KEYS[1])
if run and run.id == ARGV[1] and run.state == 'queued' and run.handed_back == '1' and run.worker == ARGV[2]
  and run.generation == ARGV[3] then
  return 1
end
if not run then assertClaim() elseif not isHeld(run) then return 0 end
redis.call('HSET', KEYS[1], 'attempt', ARGV[7], 'failures', ARGV[8])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[1], 'state', 'queued', 'handed_back', 1, 'entry', putBack(KEYS[3], ARGV[10], ARGV[5]))
redis.call('PEXPIRE', KEYS[1], ARGV[9])
redis.call('XADD', KEYS[4], '*', '${PAYLOAD}', ARGV[6])
return 1
`;
