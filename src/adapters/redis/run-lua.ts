/**
 * The run hash, one per (task, kind, slot): slot lock and state of a run in one. Its members:
 *   id                    the event that holds the slot
 *   state                 queued | waiting | claimed | finished
 *   pool, entry           the message that counts: lane and stream entry
 *   message               the message itself, while it waits
 *   worker, generation    the latest claim; absent before the first
 *   ends                  end of the claim's life, epoch ms by the server's clock
 *   marked, limit         '1' while the claim holds a running mark, and the task's max_concurrent
 *   since                 since when its run has held that mark, over all claims; epoch ms by the server's clock
 *   attempt, failures     progress over all claims
 *   awaiting              until when the receipt of the latest attempt is awaited, epoch ms; 0 while it is not
 *   retry_at              planned instant of the attempt after it, epoch ms; 0 if none is
 *   handed_back           '1' when the latest claim ended by being handed back
 * The running marks of a task are a sorted set: member (see `markOf` in redis-keys.ts) → end of its life, epoch ms.
 * A finished run is kept for FINISHED_KEEP_MS, one that waits for ever, any other for RUN_KEEP_MS after its last change.
 */
export const FINISHED_KEEP_MS = 3_600_000;
export const RUN_KEEP_MS = 7 * 86_400_000;

/** Lua functions that the scripts about runs share. */
export const RUN_LUA = `
local MEMBERS = {'id', 'state', 'pool', 'entry', 'worker', 'generation', 'ends', 'marked', 'limit', 'attempt',
  'failures', 'handed_back', 'awaiting', 'retry_at'}

local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The run hash as a table, or nil.
local function readRun(key)
  local values = redis.call('HMGET', key, unpack(MEMBERS))
  if not values[1] then return nil end
  local run = {}
  for i, name in ipairs(MEMBERS) do run[name] = values[i] end
  return run
end

local function isClaimLive(run, now)
  return run.state == 'claimed' and tonumber(run.ends) > now
end

local function hasEntry(queue, entry)
  return entry and #redis.call('XRANGE', queue, entry, entry) > 0
end

local function dropEntry(queue, group, entry)
  redis.call('XACK', queue, group, entry)
  redis.call('XDEL', queue, entry)
end

-- Moves an entry to the end of its lane, where it wakes waiting takers; its new id, or the old one if it is gone.
local function putBack(queue, group, entry)
  local found = redis.call('XRANGE', queue, entry, entry)[1]
  if not found then return entry end
  dropEntry(queue, group, entry)
  return redis.call('XADD', queue, '*', unpack(found[2]))
end
`;
