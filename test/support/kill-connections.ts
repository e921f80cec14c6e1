import { Worker } from 'node:worker_threads';

const SOURCE = `
const { workerData } = require('node:worker_threads');
const mysql = require('mysql2/promise');
(async () => {
  const connection = await mysql.createConnection(workerData.url);
  const [rows] = await connection.query(
    'SELECT id FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()', [workerData.database]);
  for (const { id } of rows) await connection.query('KILL ' + id).catch(() => undefined);
  await connection.end();
})().finally(() => {
  Atomics.store(workerData.done, 0, 1);
  Atomics.notify(workerData.done, 0);
});
`;

/** Kills all connections to a database before it returns: for callbacks that must be synchronous. */
export function killConnections(serverUrl: string, database: string): void {
  const done = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(SOURCE, { eval: true, workerData: { url: serverUrl, database, done } });
  worker.unref();
  Atomics.wait(done, 0, 0, 10_000);
}
