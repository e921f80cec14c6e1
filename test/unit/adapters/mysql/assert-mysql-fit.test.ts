import { describe, expect, it } from 'vitest';
import { assertMysqlFit, assertVersion } from '../../../../src/adapters/mysql/assert-mysql-fit.js';
import { type SqlDb, type Statements } from '../../../../src/adapters/sql/sql-db.js';

const server = (row: object): SqlDb =>
  ({
    read: (work: (sql: Statements) => Promise<unknown>) =>
      work({ rows: async () => [row] } as unknown as Statements),
  }) as unknown as SqlDb;

describe('assertMysqlFit', () => {
  it.each([
    '8.0.4',
    '8.0.36',
    '8.4.0',
    '9.1.0-commercial',
    '8.0.36-0ubuntu0.22.04.1',
    '10.6.0-MariaDB',
    '10.11.19-MariaDB-0+deb12u1',
    '11.4.2-MariaDB-log',
    '5.5.5-10.6.12-MariaDB',
  ])('takes %s', (version) => {
    expect(() => assertVersion(version)).not.toThrow();
  });

  it.each(['8.0.3-rc', '5.7.44', '10.5.29-MariaDB', '5.5.5-10.5.1-MariaDB', '5.5.68-MariaDB', '', 'Percona'])(
    'refuses %s and says what to use',
    (version) => {
      expect(() => assertVersion(version)).toThrow(
        expect.objectContaining({
          code: 'refused_start',
          message: expect.stringMatching(/MySQL 8\.0\.4 .* MariaDB 10\.6/) as string,
        }),
      );
    },
  );

  it.each([1, '1', 'ON', 'NO_LOCK'])('refuses a server whose read_only is %s', async (is_read_only) => {
    await expect(assertMysqlFit(server({ version: '8.4.0', is_read_only }))).rejects.toMatchObject({
      code: 'refused_start',
      message: expect.stringContaining('read only') as string,
    });
  });
});
