import { describe, expect, it } from 'vitest';
import { findPikaPython } from '../../support/pika-python.js';

describe('findPikaPython', () => {
  const machine = (isDebian: boolean, isRoot: boolean) => {
    const installed: string[] = [];
    return {
      installed,
      isDebian: () => isDebian,
      isRoot: () => isRoot,
      install: async (packages: readonly string[]) => void installed.push(...packages),
    };
  };

  it('takes the one that is there, and installs nothing', async () => {
    const debian = machine(true, true);
    expect(await findPikaPython(debian, () => 'python3')).toBe('python3');
    expect(debian.installed).toEqual([]);
  });

  it('installs it on Debian as root', async () => {
    const debian = machine(true, true);
    const find = () => (debian.installed.includes('python3-pika') ? '/usr/bin/python3' : undefined);
    expect(await findPikaPython(debian, find)).toBe('/usr/bin/python3');
  });

  it.each([
    [false, true, 'this is not Debian'],
    [true, false, 'the tests do not run as root'],
    [true, true, 'was installed and brought no pika'],
  ])('fails and says what to provide: Debian %s, root %s', async (isDebian, isRoot, why) => {
    await expect(findPikaPython(machine(isDebian, isRoot), () => undefined)).rejects.toThrow(
      new RegExp(`${why}.*pip install pika`),
    );
  });
});
