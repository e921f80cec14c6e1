import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { FindProgram, Place, ProgramRecipe, ServerKind } from './server-kind.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** `mysql://user:password@host:port/`, no database: tests create and drop their own. */
    mysqlUrl: string;
  }
}

/**
 * Not UTC on purpose: ax has to set the time zone of its own sessions.
 * The rest trades durability, which nobody needs here, for speed.
 */
const settings = [
  '--default-time-zone=+08:00',
  '--skip-log-bin',
  '--performance-schema=OFF',
  '--innodb-flush-log-at-trx-commit=2',
  '--max-connections=500',
];

const serverArguments = ({ directory, port }: Place) => [
  '--no-defaults',
  `--datadir=${directory}/data`,
  `--socket=${directory}/sock`,
  `--pid-file=${directory}/pid`,
  `--port=${port}`,
  '--bind-address=127.0.0.1',
  '--skip-name-resolve',
  `--init-file=${directory}/init.sql`,
  ...settings,
];

const account = "'root'@'127.0.0.1'";

const files = ({ password }: Place) => ({
  'init.sql': [
    `CREATE USER IF NOT EXISTS ${account};`,
    `ALTER USER ${account} IDENTIFIED BY '${password}';`,
    `GRANT ALL ON *.* TO ${account} WITH GRANT OPTION;`,
    '',
  ].join('\n'),
});

function mariaDb(find: FindProgram): ProgramRecipe | undefined {
  const [server, install] = [find('mariadbd'), find('mariadb-install-db')];
  if (!server || !install) return undefined;
  return {
    users: ['mysql', 'nobody'],
    files,
    commands: (place) => [
      [
        install,
        '--no-defaults',
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        '--skip-name-resolve',
        `--datadir=${place.directory}/data`,
      ],
      [server, ...serverArguments(place)],
    ],
  };
}

function mySql(find: FindProgram): ProgramRecipe | undefined {
  const server = find('mysqld');
  if (!server) return undefined;
  return {
    users: ['mysql', 'nobody'],
    files,
    commands: (place) => [
      [server, '--no-defaults', '--initialize-insecure', `--datadir=${place.directory}/data`],
      [server, ...serverArguments(place), '--mysqlx=OFF'],
    ],
  };
}

export const mysql: ServerKind = {
  title: 'MySQL',
  provides: 'mysqlUrl',
  variable: 'AX_TEST_MYSQL_URL',
  url: ({ host, port }, password) => `mysql://root:${password}@${host}:${port}/`,
  async logIn(url) {
    const connection = await createConnection({ uri: url, connectTimeout: 5000 });
    try {
      const [rows] = await connection.query<RowDataPacket[]>({
        sql: 'SELECT VERSION() AS version',
        timeout: 5000,
      });
      return String(rows[0]?.['version']);
    } finally {
      connection.destroy();
    }
  },
  container: {
    image: 'mysql:8.4',
    port: 3306,
    environment: (password) => ({ MYSQL_ROOT_PASSWORD: password }),
    command: () => settings,
  },
  programs: 'mariadbd with mariadb-install-db, or mysqld',
  recipe: (find) => mariaDb(find) ?? mySql(find),
  debianPackage: 'mariadb-server',
};
