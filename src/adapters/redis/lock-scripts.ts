import { redisScript } from './redis-script.js';

/**
 * KEYS lease · ARGV owner, ttl ms · result {holder, expires in ms}.
 * Of concurrent contenders one becomes the holder; the holder itself prolongs. Another's lease is left as it is.
 */
export const ACQUIRE = redisScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return {holder, redis.call('PTTL', KEYS[1])}
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {ARGV[1], tonumber(ARGV[2])}
`);

/** KEYS lease · ARGV owner, ttl ms · result 1 = prolonged, 0 = not the owner's, left as it is. */
export const RENEW = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

/** KEYS lease · ARGV owner · result 1 = ended, 0 = not the owner's, left as it is. */
export const RELEASE = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`);
