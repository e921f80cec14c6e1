import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram, placeIn, unprivileged, type Account } from '../support/servers/from-programs.js';
import { installDebian } from '../support/servers/install-debian.js';
import { type Place, type ProgramRecipe, type ServerKind } from '../support/servers/server-kind.js';
import { untilReady } from '../support/servers/until-ready.js';

const START_MS = 60_000;
/**
 * Runs a server until its own standard input closes, which also the death of the campaign does; then kills its own process group, and so
 * the server with whatever it has started.
 */
const GUARD = 'out=$1; shift; "$@" </dev/null >>"$out" 2>&1 & read _; kill -9 0';

/** A server that the campaign may kill and start again, on the same port and with the same files. */
export class OwnServer {
  private process: ChildProcess | null = null;

  private constructor(
    private readonly kind: ServerKind,
    private readonly recipe: ProgramRecipe,
    private readonly place: Place,
    private readonly account: Account | null,
  ) {}

  /** Starts a fresh instance from the programs of this machine, installed first on Debian as root. */
  static async start(kind: ServerKind, password = randomBytes(12).toString('hex')): Promise<OwnServer> {
    if (kind.recipe(findProgram) === undefined) await installDebian().prepare([kind]);
    const recipe = kind.recipe(findProgram);
    if (recipe === undefined) throw new Error(`the campaign needs ${kind.programs}`);
    const account = process.getuid?.() === 0 ? unprivileged(recipe.users) : null;
    const directory = join(
      tmpdir(),
      `ax-faults-${kind.title.toLowerCase()}-${randomBytes(6).toString('hex')}`,
    );
    const server = new OwnServer(kind, recipe, await placeIn(directory, password), account);
    await server.layOut();
    await server.restart();
    return server;
  }

  get url(): string {
    return this.kind.url({ host: '127.0.0.1', port: this.place.port }, this.place.password);
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    const { process: child } = this;
    this.process = null;
    if (child === null) return;
    const gone = once(child, 'exit');
    child.stdin?.end();
    await gone;
  }

  /** Starts the server, and waits until one can log in. */
  async restart(): Promise<void> {
    const [program, ...args] = this.recipe.commands(this.place).at(-1) as [string, ...string[]];
    const log = join(this.place.directory, 'log');
    this.process = spawn('sh', ['-c', GUARD, 'sh', log, program, ...args], {
      ...this.surroundings(),
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    await untilReady(() => this.kind.logIn(this.url), {
      deadlineMs: START_MS,
      evidence: async () => (await readFile(log, 'utf8').catch(() => '')).slice(-2000),
    });
  }

  /** Runs one of the shell scripts among its files. */
  async script(name: string, ...args: string[]): Promise<void> {
    await promisify(execFile)('sh', [join(this.place.directory, name), ...args], this.surroundings());
  }

  /** Ends the server and removes its files. */
  async remove(): Promise<void> {
    await this.kill();
    await rm(this.place.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  private async layOut(): Promise<void> {
    const { directory } = this.place;
    await mkdir(directory, { mode: 0o700 });
    await this.own(directory);
    for (const [name, text] of Object.entries(this.recipe.files(this.place))) {
      await writeFile(join(directory, name), text, { mode: 0o600 });
      await this.own(join(directory, name));
    }
    for (const [program, ...args] of this.recipe.commands(this.place).slice(0, -1)) {
      await promisify(execFile)(program, args, this.surroundings());
    }
  }

  private async own(path: string): Promise<void> {
    if (this.account !== null) await chown(path, this.account.uid, this.account.gid);
  }

  private surroundings() {
    const { directory } = this.place;
    const env = { PATH: process.env['PATH'] ?? '', HOME: directory, TMPDIR: directory, LC_ALL: 'C' };
    const ids = this.account === null ? {} : { uid: this.account.uid, gid: this.account.gid };
    return { cwd: directory, env, ...ids };
  }
}
