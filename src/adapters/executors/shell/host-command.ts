import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { userInfo } from 'node:os';
import { execa } from 'execa';
import { type ShellExecutorSpec } from '../../../domain/executors/shell-spec.js';
import { type ExecutorRequest } from '../../../ports/executor.js';
import { childEnvironment, type Environment } from './child-environment.js';

/** A program to start on this machine. */
export interface HostCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
}

/** Why a command cannot be started, for people. */
export class CannotStart extends Error {}

interface Account {
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

const LOOK_UP_MS = 10_000;

/** The words of a task: a text goes to the shell. */
export const wordsOf = ({ run }: ShellExecutorSpec): readonly string[] =>
  'argv' in run ? run.argv : ['/bin/sh', '-c', run.command];

/** The command of an attempt that runs on this machine. @throws CannotStart if it names a user that the worker cannot become. */
export async function hostCommandOf(
  request: ExecutorRequest<ShellExecutorSpec>,
  options: { readonly environment: Environment; readonly cwd: string },
): Promise<HostCommand> {
  const { spec } = request;
  const cwd = spec.cwd ?? options.cwd;
  if (spec.user === null || spec.user === userInfo().username) {
    return { argv: wordsOf(spec), cwd, env: childEnvironment(request, options.environment, null) };
  }
  if (process.geteuid?.() !== 0) {
    const who = `the worker runs as ${userInfo().username}`;
    throw new CannotStart(`${who} and only root may run commands as "${spec.user}"`);
  }
  const { uid, gid, home } = await accountOf(spec.user, options.environment);
  // By its path: the PATH that a task names must not choose what runs as root.
  const setpriv = programIn(options.environment['PATH'] ?? '/usr/bin:/bin', 'setpriv');
  const drop = [setpriv, `--reuid=${uid}`, `--regid=${gid}`, '--init-groups', '--'];
  return {
    argv: [...drop, ...wordsOf(spec)],
    cwd,
    env: childEnvironment(request, options.environment, home),
  };
}

async function accountOf(user: string, env: Environment): Promise<Account> {
  const { stdout, exitCode, message } = await execa('getent', ['passwd', user], {
    env,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: LOOK_UP_MS,
  });
  const [, , uid, gid, , home = '/'] = stdout?.split(':') ?? [];
  if (exitCode === 0 && uid !== undefined) return { uid: Number(uid), gid: Number(gid), home };
  if (exitCode === 2) throw new CannotStart(`this worker knows no user "${user}"`);
  throw new CannotStart(`the user "${user}" was not looked up: ${message?.split('\n', 1)[0]}`);
}

/** The path of a program. @throws CannotStart if it is nowhere in `path`. */
export function programIn(path: string, program: string): string {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, program);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      continue;
    }
  }
  throw new CannotStart(`this worker has no program "${program}"`);
}
