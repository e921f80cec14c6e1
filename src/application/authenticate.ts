import { type AuditLog } from '../ports/audit.js';
import { type Clock } from '../ports/clock.js';
import { type TokenHash } from '../ports/token-hash.js';
import { type TokenRepo } from '../ports/token-repo.js';

export const ADMIN = 'admin';

/** Decides who a bearer token speaks for. There is no default secret: without a known token nobody is let in. */
export class Authenticate {
  private readonly adminHash: string | null;

  constructor(
    private readonly deps: {
      readonly tokens: TokenRepo;
      readonly hash: TokenHash;
      readonly audit: AuditLog;
      readonly clock: Clock;
      /** From the configuration; null: the stored, generated one counts. */
      readonly adminToken: string | null;
    },
  ) {
    this.adminHash = deps.adminToken === null ? null : deps.hash.of(deps.adminToken);
  }

  /** Makes the admin token on the first start without a configured one; returns it that one time, else null. */
  async prepare(): Promise<string | null> {
    const { tokens, hash, audit, clock } = this.deps;
    if (this.adminHash !== null) return null;
    const token = hash.newToken();
    const createdAt = clock.now();
    const isNew = await tokens.insertIfAbsent({ name: ADMIN, hash: hash.of(token), createdAt });
    if (!isNew) return null;
    await audit.append({
      at: createdAt,
      actor: 'ax',
      action: 'token.create',
      subject: ADMIN,
      before: null,
      after: null,
    });
    return token;
  }

  /** The name behind a token, or null. Hashes are compared, so the time it takes tells nothing of the token. */
  async actorOf(token: string): Promise<string | null> {
    const hash = this.deps.hash.of(token);
    if (this.adminHash !== null) return hash === this.adminHash ? ADMIN : null;
    return this.deps.tokens.findByHash(hash);
  }
}
