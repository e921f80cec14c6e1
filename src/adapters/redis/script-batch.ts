import { AxError } from '../../domain/errors.js';
import { type RedisConnection } from './redis-connection.js';
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
 * The script must be safe to repeat: if the server refuses a batch because of one member, all are called again one by one.
 */
export class ScriptBatch {
  private readonly script: RedisScript;
  private waiting: Member[] = [];

  /** `source` sees KEYS and ARGV of its own member and returns its answer. */
  constructor(
    private readonly connection: RedisConnection,
    source: string,
  ) {
    this.script = redisScript(perMember(source));
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
      for (const [i, member] of members.entries()) member.resolve(answers[i]);
    } catch (error) {
      const isAway = error instanceof AxError && error.retryable;
      if (isAway || members.length === 1) for (const { reject } of members) reject(error);
      else for (const member of members) void this.send([member]);
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

/** KEYS of all members · ARGV number of keys and of args per member, args of all members · result {answer…}. */
const perMember = (source: string): string => `
local function member(KEYS, ARGV)
${source}
end
local answers, keys, args = {}, tonumber(ARGV[1]), tonumber(ARGV[2])
for i = 0, #KEYS / keys - 1 do
  answers[i + 1] = member({unpack(KEYS, i * keys + 1, i * keys + keys)}, {unpack(ARGV, i * args + 3, i * args + args + 2)})
end
return answers
`;
