import { type TokenRepo } from '../../ports/token-repo.js';
import { type SqlDb } from './sql-db.js';
import { isWord } from './word.js';

const COLUMNS = ['name', 'hash', 'created_at'] as const;

export class SqlTokenRepo implements TokenRepo {
  constructor(private readonly db: SqlDb) {}

  async insertIfAbsent(token: {
    readonly name: string;
    readonly hash: string;
    readonly createdAt: number;
  }): Promise<boolean> {
    return this.db.transaction(async (sql) => {
      try {
        await sql.insert('api_token', COLUMNS, [
          [token.name, token.hash, sql.dialect.instant(token.createdAt)],
        ]);
        return true;
      } catch (error) {
        if (sql.isDuplicate(error)) return false;
        throw error;
      }
    });
  }

  async findByHash(hash: string): Promise<string | null> {
    if (!isWord(hash)) return null;
    const [row] = await this.db.read((sql) =>
      sql.rows<{ name: string }>('SELECT name FROM api_token WHERE hash = ?', [hash]),
    );
    return row?.name ?? null;
  }
}
