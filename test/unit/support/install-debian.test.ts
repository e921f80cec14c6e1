import { describe, expect, it } from 'vitest';
import { installDebian, type DebianMachine } from '../../support/servers/install-debian.js';
import { fakeKind, fakeWay } from './fake-kind.js';

const mysql = fakeKind();
const redis = fakeKind({ title: 'Redis', provides: 'redisUrl' });

/** A Debian machine with these programs, on which installing `x-server` brings the program `xd`. */
function machineWith(programs: string[], traits: Partial<DebianMachine> = {}) {
  const installs: string[][] = [];
  const machine: DebianMachine = {
    isRoot: () => true,
    isDebian: () => true,
    find: (name) => (programs.includes(name) ? `/sbin/${name}` : undefined),
    async install(packages) {
      installs.push([...packages]);
      programs.push(...packages.map((name) => name.replace('-server', 'd')));
    },
    ...traits,
  };
  return { machine, installs };
}

const runs = () => fakeWay('programs', (kind) => `program of ${kind.title}`);

describe('installDebian', () => {
  it('as root, installs the packages of what is missing in one go and runs the programs', async () => {
    const { machine, installs } = machineWith([]);
    const way = installDebian(machine, runs());
    await way.prepare([mysql, redis]);
    expect(installs).toEqual([['mysql-server', 'redis-server']]);
    expect((await way.start(mysql)).url).toBe('program of MySQL');
    expect((await way.start(redis)).url).toBe('program of Redis');
  });

  it('leaves alone what is installed and failed to start', async () => {
    const { machine, installs } = machineWith(['redisd']);
    const programs = runs();
    const way = installDebian(machine, programs);
    await way.prepare([mysql, redis]);
    expect(installs).toEqual([['mysql-server']]);
    await expect(way.start(redis)).rejects.toThrow('redis-server is already installed');
    expect(programs.calls).toEqual([]);
  });

  it.each([
    ['elsewhere than on Debian', { isDebian: () => false }, 'not Debian'],
    ['as a plain user', { isRoot: () => false }, 'do not run as root'],
  ])('installs nothing %s', async (_, traits, reason) => {
    const { machine, installs } = machineWith([], traits);
    await expect(installDebian(machine, runs()).prepare([mysql])).rejects.toThrow(reason);
    expect(installs).toEqual([]);
  });

  it('fails with what the installer said', async () => {
    const { machine } = machineWith([], {
      install: () => Promise.reject(new Error('Unable to locate package')),
    });
    await expect(installDebian(machine, runs()).prepare([mysql])).rejects.toThrow('Unable to locate package');
  });
});
