/** A year and a day, since pre-hooks look back a year at most. */
const KEEP_MS = 367 * 86_400_000;

/** Lua functions about the hash of a task's newest outcome: slot, finished_at (epoch ms), status. */
export const LAST_OUTCOME_LUA = `
-- Takes note of an outcome; one of an older slot than is known changes nothing.
local function noteOutcome(key, slot, finishedAt, status)
  local known = redis.call('HGET', key, 'slot')
  if known and tonumber(known) > tonumber(slot) then return end
  redis.call('HSET', key, 'slot', slot, 'finished_at', finishedAt, 'status', status)
  redis.call('PEXPIRE', key, ${KEEP_MS})
end
`;
