import { environmentOf, type ProcessRow, type ProcessTable, rowOf } from './process-table.js';
import { type EndSignal, type Running } from './end-running.js';

/** What tells the processes of one attempt from all others. */
export interface Kinship {
  /** The command itself: leader of a session and group of its own. */
  readonly leader: number;
  /** Start of the leader, in ticks since boot; 0 if unknown. */
  readonly startedAt: number;
  /** Variables that every process of the attempt was started with, as `NAME=value`, unless it was started with others on purpose. */
  readonly marks: readonly string[];
}

/** Of no process, group or session. */
const NOBODY = -1;

/**
 * The processes of one attempt on this machine: the leader's group and session, whoever carries the attempt's marks in its
 * environment (a daemon that left the session), the sessions of those, and the children of all these. What gets away: a process with
 * another environment in another session whose parent has ended. Without Linux's /proc only the group is known.
 */
export class HostProcesses implements Running {
  readonly pollMs = 20;

  constructor(
    private readonly table: ProcessTable,
    private readonly kinship: Kinship,
  ) {}

  /** Of the command that was started as `leader` just now. */
  static of(table: ProcessTable, leader: number, marks: readonly string[]): HostProcesses {
    return new HostProcesses(table, { leader, startedAt: rowOf(leader)?.startedAt ?? 0, marks });
  }

  /** What earlier attempts of the execution have running, because their worker was killed. */
  static ofExecution(table: ProcessTable, executionId: string): HostProcesses {
    const marks = [`AX_EXECUTION_ID=${executionId}`];
    return new HostProcesses(table, { leader: NOBODY, startedAt: 0, marks });
  }

  async signal(signal: EndSignal | null): Promise<readonly string[]> {
    const { leader } = this.kinship;
    const rows = await this.table.read();
    if (rows === null && leader === NOBODY) return [];
    if (rows === null) return send(-leader, signal ?? 0) ? [`group ${leader}`] : [];
    const alive = kinOf(rows, this.kinship, environmentOf);
    if (signal !== null) {
      // The kernel reaches the whole group at once, also what is being started just now.
      if (alive.some(({ group }) => group === leader)) send(-leader, signal);
      for (const { pid, group } of alive) if (group !== leader) send(pid, signal);
      // A stopped process takes a TERM only when it goes on.
      if (signal === 'SIGTERM') for (const { pid } of alive) send(pid, 'SIGCONT');
    }
    return alive.map(({ pid, program }) => `${pid} (${program})`);
  }
}

/** Who of `rows` belongs to the attempt and runs; zombies only pass kinship on. */
export function kinOf(
  rows: readonly ProcessRow[],
  { leader, startedAt, marks }: Kinship,
  environmentOf: (pid: number) => readonly string[],
): ProcessRow[] {
  const younger = rows.filter((row) => row.startedAt >= startedAt && row.pid !== process.pid);
  const isMarked = ({ pid }: ProcessRow) => {
    const environment = environmentOf(pid);
    return marks.length > 0 && marks.every((mark) => environment.includes(mark));
  };
  const sessions = new Set([leader]);
  const kin = new Map<number, ProcessRow>();
  const add = (row: ProcessRow) => {
    kin.set(row.pid, row);
    // 0: a session of somebody outside of this container.
    if (row.session !== 0) sessions.add(row.session);
  };
  for (const row of younger) {
    if (row.group === leader || row.session === leader || isMarked(row)) add(row);
  }
  for (let known = -1; known !== kin.size;) {
    known = kin.size;
    for (const row of younger) {
      if (!kin.has(row.pid) && (kin.has(row.parent) || sessions.has(row.session))) add(row);
    }
  }
  return [...kin.values()].filter(({ isZombie }) => !isZombie);
}

/** Kills the group at once, without looking further. */
export const killGroup = (leader: number): boolean => send(-leader, 'SIGKILL');

/** False if nobody is there, or if it may not be signalled. */
function send(pid: number, signal: EndSignal | 'SIGCONT' | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
