import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export interface EngineCall {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Writes down its arguments and its environment, and then does as the file of its first argument says. */
const SCRIPT = `#!/bin/sh
{ printf '%s\\037' "$@"; printf '\\036'; env -0; printf '\\035'; } >>"\${0%/*}/calls"
[ ! -e "\${0%/*}/$1.sh" ] || . "\${0%/*}/$1.sh"
`;

/** A container engine's client that has no engine: proves which calls are made of it. */
export class FakeEngine {
  private constructor(private readonly folder: string) {}

  static async open(program: 'docker' | 'podman'): Promise<FakeEngine> {
    const folder = await mkdtemp(join(tmpdir(), 'ax-engine-'));
    await writeFile(join(folder, program), SCRIPT);
    await chmod(join(folder, program), 0o755);
    return new FakeEngine(folder);
  }

  /** Where the client is found before any real one. */
  get path(): string {
    return `${this.folder}${delimiter}${process.env['PATH']}`;
  }

  /** What `docker <verb> …` does from now on, as a shell script. */
  async on(verb: string, script: string): Promise<void> {
    await writeFile(join(this.folder, `${verb}.sh`), script);
  }

  async calls(): Promise<EngineCall[]> {
    const log = await readFile(join(this.folder, 'calls'), 'utf8').catch(() => '');
    return log
      .split('\u001d')
      .slice(0, -1)
      .map((call) => {
        const [words = '', variables = ''] = call.split('\u001e');
        const pairs = variables.split('\0').filter((line) => line.includes('='));
        return {
          argv: words.split('\u001f').slice(0, -1),
          env: Object.fromEntries(pairs.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string])),
        };
      });
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}
