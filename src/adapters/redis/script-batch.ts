import { type RedisConnection } from './redis-connection.js';
import { unavailable } from './redis-errors.js';
import { redisScript, type RedisScript } from './redis-script.js';

/** Members of one call; a hundred keep the server busy for about a millisecond. */
const MAX_MEMBERS = 100;

interface Member {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Calls of one script that are made in the same turn of the event loop travel as one call, which costs client and server a fraction of
 * single ones. Each member is atomic, as the script alone is; the batch runs as a whole too, but nobody may rely on that.
 * A member that the server refuses fails alone.
 */
export class ScriptBatch {
  private readonly script: RedisScript;
  private waiting: Member[] = [];

  /** `source` sees KEYS and ARGV of its own member and returns its answer; `library` are functions that it calls, made once for a batch. */
  constructor(
    private readonly connection: RedisConnection,
    source: string,
    library = '',
  ) {
    this.script = redisScript(perMember(source, library));
  }

  /** Every call has the same number of keys, and of args. @throws AxError `unavailable`; the call may have taken effect. */
  call(keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setImmediate(() => this.flush());
      this.waiting.push({ keys, args, resolve, reject });
    });
  }

  private flush(): void {
    const members = this.waiting;
    this.waiting = [];
    for (let at = 0; at < members.length; at += MAX_MEMBERS)
      void this.send(members.slice(at, at + MAX_MEMBERS));
  }

  private async send(members: readonly Member[]): Promise<void> {
    try {
      const answers = await this.evaluate(members);
      for (const [i, { resolve, reject }] of members.entries()) {
        const answer = answers[i];
        if (answer instanceof Error) reject(unavailable(answer));
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of members) reject(error);
    }
  }

  private async evaluate(members: readonly Member[]): Promise<unknown[]> {
    const [first] = members;
    const keys = members.flatMap((member) => member.keys);
    const args = members.flatMap((member) => member.args);
    const sizes = [first?.keys.length ?? 0, first?.args.length ?? 0];
    return (await this.connection.evaluate(this.script, keys, [...sizes, ...args])) as unknown[];
  }
}

/** KEYS of all members · ARGV number of keys and of args per member, args of all members · result {answer or error…}. */
const perMember = (source: string, library: string): string => `
${library}
local function member(KEYS, ARGV)
${source}
end
-- Redis 7 throws tables, 6 throws text with the place in front.
local function refusal(thrown)
  local text = type(thrown) == 'table' and thrown.err or tostring(thrown)
  return redis.error_reply((string.gsub(text, '^@?user_script: ?%d+: ', '')))
end
local answers, keys, args = {}, tonumber(ARGV[1]), tonumber(ARGV[2])
for i = 0, #KEYS / keys - 1 do
  local isDone, answer = pcall(member, {unpack(KEYS, i * keys + 1, i * keys + keys)},
    {unpack(ARGV, i * args + 3, i * args + args + 2)})
  answers[i + 1] = isDone and answer or refusal(answer)
end
return answers
`;
