import { execFileSync } from 'node:child_process';
import { thisMachine, type DebianMachine } from './servers/install-debian.js';

const PACKAGE = 'python3-pika';
/** The second one is Debian's own, which alone sees Debian's packages. */
const PYTHONS = ['python3', '/usr/bin/python3'];

/** A Python that has pika, RabbitMQ's client for it. @throws Error that says what to provide. */
export async function findPikaPython(
  machine: Pick<DebianMachine, 'isRoot' | 'isDebian' | 'install'> = thisMachine,
  find: () => string | undefined = () => PYTHONS.find(hasPika),
): Promise<string> {
  let reason = 'no Python here has pika';
  const found = find();
  if (found !== undefined) return found;
  if (!machine.isDebian()) reason += ', and this is not Debian';
  else if (!machine.isRoot()) reason += ', and the tests do not run as root';
  else {
    await machine.install([PACKAGE]);
    const installed = find();
    if (installed !== undefined) return installed;
    reason = `${PACKAGE} was installed and brought no pika`;
  }
  const fix = `provide Python 3 with pika (pip install pika, Debian package ${PACKAGE}), or run the tests on Debian as root: then they install it themselves`;
  throw new Error(`Tests of a consumer in Python cannot run: ${reason}. Please ${fix}.`);
}

function hasPika(python: string): boolean {
  try {
    execFileSync(python, ['-c', 'import pika'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
