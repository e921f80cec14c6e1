/** API tokens, stored as SHA-256 hashes only (hex). */
export interface TokenRepo {
  /** Stores a token under its name unless the name is taken; says whether it was stored. Of concurrent callers one stores. */
  insertIfAbsent(token: {
    readonly name: string;
    readonly hash: string;
    readonly createdAt: number;
  }): Promise<boolean>;
  /** The name of the token with this hash, or null. */
  findByHash(hash: string): Promise<string | null>;
}
