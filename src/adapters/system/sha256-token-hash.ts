import { createHash, randomBytes } from 'node:crypto';
import { type TokenHash } from '../../ports/token-hash.js';

/** Plain SHA-256 is enough for tokens of 256 random bits; it would not be for passwords. */
export class Sha256TokenHash implements TokenHash {
  of(token: string): string {
    return createHash('sha256').update(token).digest('hex');
  }

  newToken(): string {
    return randomBytes(32).toString('base64url');
  }
}
