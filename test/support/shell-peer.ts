import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ShellExecutorSpec } from '../../src/domain/executors/shell-spec.js';

export const commandOf = (
  command: string,
  overrides: Partial<ShellExecutorSpec> = {},
): ShellExecutorSpec => ({
  type: 'shell',
  run: { command },
  cwd: null,
  env: {},
  user: null,
  container: null,
  ...overrides,
});

/** Commands that leave a file in a folder of their own when they begin. */
export class ShellPeer {
  private constructor(readonly folder: string) {}

  static async open(): Promise<ShellPeer> {
    return new ShellPeer(await mkdtemp(join(tmpdir(), 'ax-shell-')));
  }

  get succeeding(): ShellExecutorSpec {
    return this.command('exit 0');
  }

  get failing(): ShellExecutorSpec {
    return this.command('echo no >&2; exit 3');
  }

  get lasting(): ShellExecutorSpec {
    return this.command('while ! [ -e "end-$AX_EXECUTION_ID" ]; do sleep 0.02; done');
  }

  /** Ends the lasting ones that have begun. */
  readonly complete = (): void => {
    for (const name of readdirSync(this.folder)) {
      if (name.startsWith('begun-')) void writeFile(join(this.folder, name.replace('begun', 'end')), '');
    }
  };

  readonly begun = (executionId: string): number =>
    readdirSync(this.folder).filter((name) => name === `begun-${executionId}`).length;

  readonly atWork = (): number => processesWith(`PEER=${this.folder}`).length;

  readonly close = async (): Promise<void> => rm(this.folder, { recursive: true });

  /** Content of a file that a command has left in its folder. */
  text(name: string): Promise<string> {
    return readFile(join(this.folder, name), 'utf8');
  }

  command(script: string, overrides: Partial<ShellExecutorSpec> = {}): ShellExecutorSpec {
    const begin = 'echo >"begun-$AX_EXECUTION_ID"; ';
    return commandOf(begin + script, { cwd: this.folder, env: { PEER: this.folder }, ...overrides });
  }
}

/** Ids of the living processes that were started with this variable (`NAME=value`). */
export function processesWith(variable: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => textOf(`/proc/${pid}/environ`).split('\0').includes(variable))
    .filter((pid) => !/\) [ZX] /.test(textOf(`/proc/${pid}/stat`)))
    .map(Number);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
