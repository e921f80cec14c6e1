import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { describe, expect, inject, it } from 'vitest';

describe('the servers that the suites are given', () => {
  it('MySQL lets the tests create and drop databases of their own', async () => {
    const name = `ax_servers_${randomBytes(6).toString('hex')}`;
    const connection = await createConnection({ uri: inject('mysqlUrl') });
    const databases = async () => {
      const [rows] = await connection.query<RowDataPacket[]>('SHOW DATABASES LIKE ?', [name]);
      return rows.length;
    };
    try {
      await connection.query(`CREATE DATABASE ${name}`);
      expect(await databases()).toBe(1);
      await connection.query(`DROP DATABASE ${name}`);
      expect(await databases()).toBe(0);
    } finally {
      await connection.end();
    }
  });

  it('Redis answers', async () => {
    const client = new Redis(inject('redisUrl'));
    try {
      expect(await client.ping()).toBe('PONG');
    } finally {
      client.disconnect();
    }
  });
});
