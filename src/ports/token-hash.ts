/** One-way fingerprints of API tokens, which are long and random. */
export interface TokenHash {
  /** SHA-256, hex. */
  of(token: string): string;
  /** A new random token of at least 192 bits. */
  newToken(): string;
}
