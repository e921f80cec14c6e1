import { describe, expect, it } from 'vitest';
import { findFaketime, offsetText } from '../../support/faketime.js';

const LIBRARY = '/lib/faketime/libfaketime.so.1';

/** A machine on which installing a package brings the library, or does not. */
function machineWith(traits: { isDebian?: boolean; isRoot?: boolean; brings?: boolean; has?: boolean }) {
  const installs: string[][] = [];
  let has = traits.has ?? false;
  const machine = {
    isDebian: () => traits.isDebian ?? true,
    isRoot: () => traits.isRoot ?? true,
    install: async (packages: readonly string[]) => {
      installs.push([...packages]);
      has ||= traits.brings ?? true;
    },
  };
  return { installs, path: () => findFaketime(machine, () => (has ? LIBRARY : undefined)) };
}

describe('findFaketime', () => {
  it('takes the library of the machine and installs nothing then', async () => {
    const { installs, path } = machineWith({ has: true, isDebian: false, isRoot: false });
    expect(await path()).toBe(LIBRARY);
    expect(installs).toEqual([]);
  });

  it('installs it on Debian as root', async () => {
    const { installs, path } = machineWith({});
    expect(await path()).toBe(LIBRARY);
    expect(installs).toEqual([['libfaketime']]);
  });

  it.each([
    [{ isDebian: false }, 'not Debian'],
    [{ isRoot: false }, 'do not run as root'],
    [{ brings: false }, 'was installed and brought no'],
  ])('fails with %j, says why and what to provide', async (traits, reason) => {
    const failing = machineWith(traits).path();
    await expect(failing).rejects.toThrow(reason);
    await expect(failing).rejects.toThrow('provide libfaketime (Debian package libfaketime)');
  });

  it('writes offsets as faketime reads them', () => {
    expect([10, -10, 0.5].map(offsetText)).toEqual(['+10', '-10', '+0.5']);
  });
});
