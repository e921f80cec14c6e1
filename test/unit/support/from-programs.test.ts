import { describe, expect, it } from 'vitest';
import { fromPrograms } from '../../support/servers/from-programs.js';
import { kinds } from '../../support/servers/kinds.js';
import type { Place, RunningServer } from '../../support/servers/server-kind.js';
import { fakeKind } from './fake-kind.js';

const kind = fakeKind();
const find = (...names: string[]) => {
  return (name: string) => (names.includes(name) ? `/sbin/${name}` : undefined);
};
const server: RunningServer = { url: 'mysql://here', origin: 'programs', stop: async () => undefined };

/** Fails with these reasons, one a start, then succeeds. */
function starts(...reasons: string[]) {
  return async () => {
    const reason = reasons.shift();
    if (reason !== undefined) throw new Error(reason);
    return server;
  };
}

describe('fromPrograms', () => {
  it('starts the programs that it finds', async () => {
    expect(await fromPrograms(find('mysqld'), starts()).start(kind)).toBe(server);
  });

  it('says what it looked for when the programs are not there', async () => {
    await expect(fromPrograms(find(), starts()).start(kind)).rejects.toThrow('found no mysqld');
  });

  it('tries again when another process took the port, at most three times', async () => {
    const taken = 'Could not create server listening socket: Address already in use';
    expect(await fromPrograms(find('mysqld'), starts(taken, taken)).start(kind)).toBe(server);
    await expect(fromPrograms(find('mysqld'), starts(taken, taken, taken)).start(kind)).rejects.toThrow(
      taken,
    );
  });

  it('does not try again for any other reason', async () => {
    await expect(fromPrograms(find('mysqld'), starts('no space left')).start(kind)).rejects.toThrow(
      'no space left',
    );
  });
});

describe('the programs of the kinds', () => {
  const place: Place = { directory: '/t', port: 7, sparePorts: [8, 9], password: 'secret' };
  const programsFrom = (title: string, ...names: string[]) =>
    kinds
      .find((one) => one.title === title)
      ?.recipe(find(...names))
      ?.commands(place)
      .map(([program]) => program);

  it('MySQL: MariaDB when it is complete, else MySQL, else none', () => {
    const maria = ['/sbin/mariadb-install-db', '/sbin/mariadbd'];
    expect(programsFrom('MySQL', 'mysqld', 'mariadbd', 'mariadb-install-db')).toEqual(maria);
    expect(programsFrom('MySQL', 'mysqld', 'mariadbd')).toEqual(['/sbin/mysqld', '/sbin/mysqld']);
    expect(programsFrom('MySQL', 'mariadb-install-db')).toBeUndefined();
  });

  it('RabbitMQ: complete with rabbitmqctl and epmd, or none', () => {
    expect(programsFrom('RabbitMQ', 'rabbitmq-server', 'rabbitmqctl', 'epmd')).toEqual(['sh']);
    expect(programsFrom('RabbitMQ', 'rabbitmq-server', 'rabbitmqctl')).toBeUndefined();
    expect(programsFrom('RabbitMQ', 'rabbitmqctl', 'epmd')).toBeUndefined();
  });

  it('Redis: redis-server or none', () => {
    expect(programsFrom('Redis', 'redis-server')).toEqual(['/sbin/redis-server']);
    expect(programsFrom('Redis', 'redis-cli')).toBeUndefined();
  });
});
