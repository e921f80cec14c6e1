import { redisScript } from './redis-script.js';

/**
 * The wait of an execution's current attempt, a hash:
 *   attempt, token        of the last opening; the token as its hash
 *   state                 open | answered | closed
 *   past:<token hash>     tokens of openings that later ones have replaced
 * Its states:
 *   (none) ─open→ open ─a receipt that ends it→ answered ─close→ closed
 *   open ─close→ closed
 *   any ─open of a later attempt→ open, without receipts
 * The receipts are a stream beside it, whose ids say when each came; it lives as long as the hash.
 */
const WAIT = `
local wait = {}
for i, value in ipairs(redis.call('HMGET', KEYS[1], 'attempt', 'token', 'state')) do
  wait[({'attempt', 'token', 'state'})[i]] = value
end
`;

/**
 * KEYS wait, receipts · ARGV attempt, token hash, keep ms · no result.
 * Opening a closed wait again changes nothing; opening an attempt that a later one has replaced only makes its token known as replaced.
 */
export const OPEN = redisScript(`
${WAIT}
local before = wait.attempt and tonumber(wait.attempt) or -1
local attempt = tonumber(ARGV[1])
if before > attempt then
  redis.call('HSET', KEYS[1], 'past:' .. ARGV[2], 1)
  return
end
if before == attempt and wait.state == 'closed' then return end
if wait.token and wait.token ~= ARGV[2] then redis.call('HSET', KEYS[1], 'past:' .. wait.token, 1) end
if before < attempt then
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[1], 'attempt', ARGV[1], 'state', 'open')
end
redis.call('HSET', KEYS[1], 'token', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
`);

/**
 * KEYS wait, receipts · ARGV token hash, kind, how many receipts are kept, channel, execution id, field and value of the receipt…
 * result: a ReceiptAnswer. Of any number of receipts that end the wait one is accepted.
 */
export const POST = redisScript(`
${WAIT}
if not wait.attempt then return 'unknown' end
local isCurrent = wait.token == ARGV[1]
if not isCurrent and redis.call('HEXISTS', KEYS[1], 'past:' .. ARGV[1]) == 0 then return 'wrong_token' end
if wait.state == 'closed' then return 'late' end
if not isCurrent then return 'superseded' end
if wait.state == 'answered' then return 'second' end
if ARGV[2] ~= 'progress' then
  redis.call('HSET', KEYS[1], 'state', 'answered')
elseif redis.call('XLEN', KEYS[2]) >= ARGV[3] - 1 then
  return 'too_many'
end
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 6))
redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
redis.call('PUBLISH', ARGV[4], ARGV[5])
return 'accepted'
`);

/** KEYS wait, receipts · ARGV keep ms · no result. A wait that is not known stays so. Idempotent. */
export const CLOSE = redisScript(`
if redis.call('EXISTS', KEYS[1]) == 0 then return end
redis.call('HSET', KEYS[1], 'state', 'closed')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
`);
