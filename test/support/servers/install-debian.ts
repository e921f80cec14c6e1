import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { announce } from './announce.js';
import { findProgram, fromPrograms } from './from-programs.js';
import type { FindProgram, ServerKind, Way } from './server-kind.js';

/** What installing needs of the machine. */
export interface DebianMachine {
  isRoot(): boolean;
  isDebian(): boolean;
  readonly find: FindProgram;
  /** Installs packages and starts no service; rejects with the end of the installer's output. */
  install(packages: readonly string[]): Promise<void>;
}

/** The machine that the tests run on. */
export const thisMachine: DebianMachine = {
  isRoot: () => process.getuid?.() === 0,
  isDebian: () => existsSync('/etc/debian_version') && findProgram('apt-get') !== undefined,
  find: findProgram,
  install: installPackages,
};

/** Runs in a session of its own: a package installation that Ctrl-C cuts in half leaves a broken machine. */
async function installPackages(packages: readonly string[]): Promise<void> {
  announce(`installing ${packages.join(' ')}`);
  const directory = await mkdtemp(path.join(tmpdir(), 'ax-test-install-'));
  const log = await open(path.join(directory, 'log'), 'w+');
  await rm(directory, { recursive: true });
  try {
    const script = fileURLToPath(new URL('./install-debian.sh', import.meta.url));
    const how = await new Promise<string | undefined>((resolve) => {
      const child = spawn('sh', [script, ...packages], { stdio: ['ignore', log.fd, log.fd], detached: true });
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) =>
        resolve(code === 0 ? undefined : String(signal ?? `exit code ${code}`)),
      );
    });
    if (how === undefined) return;
    const { size } = await log.stat();
    const { buffer, bytesRead } = await log.read({ position: Math.max(0, size - 2000), length: 2000 });
    const said = buffer.toString('utf8', 0, bytesRead).trim().replace(/^/gm, '    | ');
    throw new Error(`apt-get install ${packages.join(' ')} failed (${how}); its last words:\n${said}`);
  } finally {
    await log.close();
  }
}

/** Way 4: on Debian as root, installs the distribution's packages of the programs that are missing, then runs those. */
export function installDebian(
  machine: DebianMachine = thisMachine,
  programs: Way = fromPrograms(machine.find),
): Way {
  const installed = new Set<ServerKind>();
  return {
    title: 'installing Debian packages',
    async prepare(kinds) {
      if (!machine.isDebian()) throw new Error('this is not Debian');
      if (!machine.isRoot()) throw new Error('the tests do not run as root');
      const missing = kinds.filter((kind) => !kind.recipe(machine.find));
      if (missing.length === 0) return;
      const packages = missing.map((kind) => kind.debianPackage);
      await machine.install(packages);
      missing.forEach((kind) => installed.add(kind));
    },
    async start(kind) {
      if (!installed.has(kind)) throw new Error(`${kind.debianPackage} is already installed`);
      return programs.start(kind);
    },
  };
}
