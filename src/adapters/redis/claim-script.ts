import { LINE_LUA, STOP_LUA } from './line-lua.js';
import { RUN_KEEP_MS, RUN_LUA } from './run-lua.js';
import { PAYLOAD } from './stream-scripts.js';

/**
 * Claims of runs. Their states, with T = the server's clock:
 *   queued ─claim→ claimed ─finish→ finished
 *   queued ─claim, when there is no room→ waiting ─its turn→ queued
 *   claimed ─handBack→ queued
 *   claimed ─claim by anyone, once T has passed its end→ claimed with the next generation
 *   claimed ─renew, when its mark expired and others took the place→ queued: the claim is lost
 *   any but finished, and no live claim ─cancel→ finished
 * This file holds the first step, held-claim-scripts.ts those of a claim, stop-scripts.ts the last one.
 *
 * KEYS run, running, queue, results, waiting, stops
 * ARGV event id, mark, worker, generation floor, pool, entry, prefix of queue keys, channel of stops, group, ttl ms, max_concurrent, slot,
 * overlap policy, most that wait, when it was due, until when a claim of it may join the line under 'skip', report for a first claim
 * or '', report for one that joins the line, '' for none or '?' for one that is still to be made
 * result {'claimed', generation, 1 = saturated, reason of a stop or '', previous worker or '', its generation, attempt, failures,
 * awaiting until or 0, retry at or 0, 1 = handed back}, {'waiting'}, {'held'}, {'finished'}, or {'full'}: there is no room, so call again with the report; nothing was done.
 * Of any number of concurrent claims of one run one succeeds; at most max_concurrent live claims of a task are marked. The entry that is
 * claimed is the one that counts: another copy of the message is dropped. An entry that is gone has been dealt with.
 */
export const CLAIM = `
local RUN, RUNNING, QUEUE, RESULTS, WAITING, STOPS = unpack(KEYS)
local ID, MARK, WORKER, FLOOR, POOL, ENTRY, QUEUES, CHANNEL, GROUP, TTL, LIMIT, SLOT, OVERLAP, MOST, DUE, JOINS_UNTIL, BEGUN, JOINED = unpack(ARGV)
local at = {running = RUNNING, waiting = WAITING, queues = QUEUES}
local now, limit, member = nowMs(), tonumber(LIMIT), memberOf(ID, RUN)

-- Of the runs of the task that run or wait, and this one, keeps the newest max_concurrent, and asks the others to stop. Whether this one is kept.
local function keepNewest()
  local ids, members = {ID}, {}
  local function add(id)
    if id ~= ID and redis.call('HEXISTS', STOPS, id) == 0 then ids[#ids + 1] = id end
  end
  for _, other in ipairs(redis.call('ZRANGE', RUNNING, 0, -1)) do add(string.match(other, '^%S+')) end
  for _, other in ipairs(redis.call('ZRANGE', WAITING, 0, -1)) do
    local id = string.match(other, '^%S+')
    members[id] = other
    add(id)
  end
  table.sort(ids, function(a, b) return a > b end)
  local isKept = false
  for place, id in ipairs(ids) do
    if id == ID then
      isKept = place <= limit
    elseif place > limit then
      askToStop(STOPS, CHANNEL, id, 'replaced')
      if members[id] then
        redis.call('ZREM', WAITING, members[id])
        local key = string.match(members[id], ' (.+)$')
        local other = readRun(key)
        if other and other.state == 'waiting' then handOut(at, key, other) end
      end
    end
  end
  return isKept
end

-- Whether a place was free when this run was due: then nothing but what ax made late is in its way.
local function wasFree()
  local before, keys = 0, string.match(RUN, '^(.*:)%a+:%-?%d+$')
  for _, other in ipairs(redis.call('ZRANGE', RUNNING, 0, -1)) do
    local key = string.match(other, ' (.+)$')
    local since = key and redis.call('HGET', keys .. key, 'since') or 0
    if tonumber(since) < tonumber(DUE) then before = before + 1 end
    if before >= limit then return false end
  end
  return true
end

local function wait(isNew)
  local payload = redis.call('XRANGE', QUEUE, ENTRY, ENTRY)[1][2][2]
  dropEntry(QUEUE, GROUP, ENTRY)
  redis.call('ZADD', WAITING, SLOT, member)
  redis.call('HSET', RUN, 'id', ID, 'state', 'waiting', 'pool', POOL, 'entry', ENTRY, 'limit', LIMIT, 'message', payload)
  redis.call('PERSIST', RUN)
  if isNew and JOINED ~= '' then redis.call('XADD', RESULTS, '*', '${PAYLOAD}', JOINED) end
end

if not hasEntry(QUEUE, ENTRY) then return {'finished'} end
local run = readRun(RUN)
if run and run.id ~= ID then
  dropEntry(QUEUE, GROUP, ENTRY)
  return {'held'}
end
if run and run.state == 'finished' then
  dropEntry(QUEUE, GROUP, ENTRY)
  return {'finished'}
end
if run and (run.state == 'waiting' or isClaimLive(run, now)) then
  if run.pool ~= POOL or run.entry ~= ENTRY then dropEntry(QUEUE, GROUP, ENTRY) end
  return {'held'}
end

local previous = run or {}
local stop = redis.call('HGET', STOPS, ID) or ''
redis.call('ZREMRANGEBYSCORE', RUNNING, '-inf', now)
local isMarked = redis.call('ZREM', RUNNING, ID, MARK) > 0
local inLine, ahead = redis.call('ZCARD', WAITING), 0
local isNew = inLine == 0 or not redis.call('ZSCORE', WAITING, member)
if inLine > 0 then
  redis.call('ZADD', WAITING, SLOT, member)
  ahead = redis.call('ZRANK', WAITING, member)
end
-- A run that was handed over, or whose target may still be at work, has its place already.
local awaiting = tonumber(previous.awaiting or 0)
local hasRoom = isMarked or awaiting > now or redis.call('ZCARD', RUNNING) + ahead < limit
if stop == '' and not hasRoom then
  if JOINED == '?' then
    if isNew then redis.call('ZREM', WAITING, member) end
    return {'full'}
  end
  local mayWait
  if OVERLAP == 'replace' then
    mayWait = keepNewest()
  elseif OVERLAP == 'queue' then
    mayWait = not isNew or previous.worker or inLine < tonumber(MOST)
  else
    mayWait = not isNew or (inLine < tonumber(MOST) and now <= tonumber(JOINS_UNTIL) and wasFree())
  end
  if mayWait then
    wait(isNew)
    advance(at)
    return {'waiting'}
  end
end
if inLine > 0 then redis.call('ZREM', WAITING, member) end

local generation = math.max(tonumber(previous.generation or 0), tonumber(FLOOR)) + 1
local attempt, failures = previous.attempt or 0, previous.failures or 0
local retryAt = previous.retry_at or 0
local ends, marked, began = now + TTL, 0, 0
local since = isMarked and redis.call('HGET', RUN, 'since') or now
if stop == '' and hasRoom then
  marked = 1
  redis.call('ZADD', RUNNING, math.max(ends, awaiting), MARK)
  redis.call('PEXPIRE', RUNNING, ${RUN_KEEP_MS})
  if not previous.worker and BEGUN ~= '' then
    redis.call('XADD', RESULTS, '*', '${PAYLOAD}', BEGUN)
    began = 1
  end
end
redis.call('HSET', RUN, 'id', ID, 'state', 'claimed', 'pool', POOL, 'entry', ENTRY, 'worker', WORKER, 'generation', generation,
  'ends', ends, 'marked', marked, 'limit', LIMIT, 'attempt', math.max(attempt, began), 'failures', failures,
  'awaiting', awaiting, 'retry_at', retryAt, 'handed_back', 0, 'since', since)
redis.call('PEXPIRE', RUN, ${RUN_KEEP_MS})
redis.pcall('XCLAIM', QUEUE, GROUP, WORKER, 0, ENTRY, 'JUSTID')
if inLine > 0 then advance(at) end
return {'claimed', generation, (hasRoom or stop ~= '') and 0 or 1, stop, previous.worker or '', tonumber(previous.generation or 0),
  tonumber(attempt), tonumber(failures), awaiting, tonumber(retryAt), tonumber(previous.handed_back or 0)}
`;

/** What CLAIM calls. */
export const CLAIM_LIBRARY = RUN_LUA + LINE_LUA + STOP_LUA;
