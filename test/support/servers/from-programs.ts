import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startGuard } from './guard.js';
import type { FindProgram, Place, ProgramRecipe, RunningServer, ServerKind, Way } from './server-kind.js';
import { untilReady } from './until-ready.js';

const startDeadlineMs = 120_000;
const portTaken = /address already in use|eaddrinuse|in use by another/i;

/** Looks in PATH and where distributions keep servers, which the PATH of a plain user often lacks. */
export const findProgram: FindProgram = (name) => {
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
};

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The first of these accounts that exists on this machine and is not root. */
export function unprivileged(names: readonly string[]): Account {
  for (const name of names) {
    try {
      const id = (flag: string) =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
      const account = { name, uid: id('-u'), gid: id('-g') };
      if (account.uid > 0) return account;
    } catch {
      continue;
    }
  }
  throw new Error(`the tests run as root, and there is no account ${names.join(' or ')} to run a server as`);
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** For a fresh instance in `directory`, on free ports. */
export async function placeIn(directory: string, password = randomBytes(12).toString('hex')): Promise<Place> {
  const port = await freePort();
  return { directory, port, sparePorts: [await freePort(), await freePort()], password };
}

const tail = async (file: string) => (await readFile(file, 'utf8').catch(() => '')).slice(-2000);

/** Starts one throwaway instance in a fresh directory, on a free port of the loopback interface. */
async function startOnce(kind: ServerKind, recipe: ProgramRecipe): Promise<RunningServer> {
  const account = process.getuid?.() === 0 ? unprivileged(recipe.users) : undefined;
  const name = `ax-test-${kind.title.toLowerCase()}-${randomBytes(6).toString('hex')}`;
  const directory = path.join(tmpdir(), name);
  const place = await placeIn(directory);
  const log = path.join(directory, 'log');
  const guard = startGuard('./program-guard.mjs', {
    directory,
    log,
    files: recipe.files(place),
    commands: recipe.commands(place),
    uid: account?.uid,
    gid: account?.gid,
  });
  const url = kind.url({ host: '127.0.0.1', port: place.port }, place.password);
  try {
    const version = await untilReady(() => kind.logIn(url), {
      deadlineMs: startDeadlineMs,
      gaveUp: () => guard.said(),
      evidence: () => tail(log),
    });
    const program = recipe.name ?? path.basename(recipe.commands(place).at(-1)?.[0] ?? '');
    return {
      url,
      origin: `throwaway ${program} ${version} on port ${place.port}${account ? ` as ${account.name}` : ''}`,
      stop: () => guard.end(),
    };
  } catch (error) {
    await guard.end();
    throw error;
  }
}

/** Way 3: server programs that are already on this machine. */
export function fromPrograms(find: FindProgram = findProgram, start = startOnce): Way {
  return {
    title: 'programs on this machine',
    async prepare() {},
    async start(kind) {
      const recipe = kind.recipe(find);
      if (!recipe) throw new Error(`found no ${kind.programs}`);
      for (let triesLeft = 3; ; triesLeft--) {
        try {
          return await start(kind, recipe);
        } catch (error) {
          // Between finding a free port and using it another process may have taken it.
          if (triesLeft <= 1 || !portTaken.test(String(error))) throw error;
        }
      }
    },
  };
}
