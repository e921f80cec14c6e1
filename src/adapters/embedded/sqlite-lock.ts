import Database from 'better-sqlite3';
import { AxError } from '../../domain/errors.js';

/**
 * Keeps a data directory to one process. A lock of SQLite on a file of its own: the system frees it when the process dies, however
 * that happens, and the database beside it stays readable for other programs.
 * @throws AxError `refused_start` that names the directory when another ax, of this process or another, holds it.
 */
export function lockDirectory(dataDir: string, file: string): () => void {
  const lock = new Database(file, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
    throw new AxError(
      'refused_start',
      `the data directory ${dataDir} is in use by another ax: stop that one, or set AX_DATA_DIR to another directory`,
    );
  }
  return () => lock.close();
}
