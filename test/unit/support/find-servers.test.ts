import { describe, expect, it } from 'vitest';
import { findServers } from '../../support/servers/find-servers.js';
import { fakeKind, fakeWay } from './fake-kind.js';

const named = 'mysql://somewhere';
const mysql = fakeKind({ answering: [named] });
const redis = fakeKind({ title: 'Redis', provides: 'redisUrl' });
const nothing = () => new Error('nothing here');

describe('findServers', () => {
  it('takes what the environment names, and asks the ways only for the rest', async () => {
    const docker = fakeWay('docker', () => 'from docker');
    const servers = await findServers({
      kinds: [mysql, redis],
      environment: { AX_TEST_MYSQL_URL: named },
      ways: [docker],
    });
    expect(servers.map(({ kind, url }) => [kind.provides, url])).toEqual([
      ['mysqlUrl', named],
      ['redisUrl', 'from docker'],
    ]);
    expect(docker.calls).toEqual(['prepare Redis', 'start Redis']);
  });

  it('asks no way at all when the environment names everything', async () => {
    const docker = fakeWay('docker', () => 'from docker');
    await findServers({ kinds: [mysql], environment: { AX_TEST_MYSQL_URL: named }, ways: [docker] });
    expect(docker.calls).toEqual([]);
  });

  it('tries the ways in order, each for what is still missing, and remembers why a way was passed over', async () => {
    const docker = fakeWay('Docker', (kind) => (kind === redis ? 'from docker' : new Error('no image')));
    const programs = fakeWay('programs', () => 'from programs');
    const install = fakeWay('install', () => 'from install');
    const servers = await findServers({
      kinds: [mysql, redis],
      environment: {},
      ways: [docker, programs, install],
    });
    expect(servers.map(({ url, passedOver }) => ({ url, passedOver }))).toEqual([
      { url: 'from programs', passedOver: ['Docker: no image'] },
      { url: 'from docker', passedOver: [] },
    ]);
    expect(programs.calls).toEqual(['prepare MySQL', 'start MySQL']);
    expect(install.calls).toEqual([]);
  });

  it('goes on to the next way when a way cannot be prepared', async () => {
    const docker = {
      ...fakeWay('Docker', () => 'from docker'),
      prepare: () => Promise.reject(new Error('no engine')),
    };
    const servers = await findServers({
      kinds: [redis],
      environment: {},
      ways: [docker, fakeWay('programs', () => 'from programs')],
    });
    expect(servers[0]).toMatchObject({ url: 'from programs', passedOver: ['Docker: no engine'] });
    expect(docker.calls).toEqual([]);
  });

  it('fails with one text that says what was tried, why each failed, and all that would help', async () => {
    const search = findServers({
      kinds: [mysql, redis],
      environment: {},
      ways: [
        fakeWay('Docker', () => new Error('no engine')),
        fakeWay('programs', () => new Error('not found')),
        fakeWay('install', () => new Error('not root')),
      ],
    });
    const message = await search.then(
      () => '',
      (error: Error) => error.message,
    );
    for (const { title, variable, container, programs, debianPackage } of [mysql, redis]) {
      const paragraph = message.split('\n\n').find((text) => text.includes(`need a ${title} server`));
      for (const part of [
        'Docker: no engine',
        'programs: not found',
        'install: not root',
        `${variable}: not set`,
      ]) {
        expect(paragraph).toContain(`  - ${part}`);
      }
      for (const remedy of [variable, container.image, programs, debianPackage]) {
        expect(paragraph?.split('Provide one of these:')[1]).toContain(remedy);
      }
    }
  });

  it('stops what it started when another server cannot be had', async () => {
    const docker = fakeWay('Docker', (kind) => (kind === redis ? 'from docker' : nothing()));
    await expect(findServers({ kinds: [mysql, redis], environment: {}, ways: [docker] })).rejects.toThrow(
      'need a MySQL server',
    );
    expect(docker.calls.at(-1)).toBe('stop Redis');
  });
});
