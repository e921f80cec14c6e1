import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** One process, as Linux's /proc/<pid>/stat tells it. */
export interface ProcessRow {
  readonly pid: number;
  readonly program: string;
  /** It has ended, and its parent has not taken note of it. */
  readonly isZombie: boolean;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot. */
  readonly startedAt: number;
}

/** A scan costs about 0.05 ms a process; attempts that end within this time share one, so that many cannot take the worker's time. */
const GATHER_MS = 20;

/** The processes of this machine. */
export class ProcessTable {
  private next: Promise<readonly ProcessRow[] | null> | null = null;

  /** As they are at some moment after the call; null where there is no Linux /proc. */
  read(): Promise<readonly ProcessRow[] | null> {
    return (this.next ??= delay(GATHER_MS).then(() => {
      this.next = null;
      return scan();
    }));
  }
}

/** One process now, a zombie too; null if there is none such, or no /proc. */
export function rowOf(pid: number | string): ProcessRow | null {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat === null ? null : parseStat(stat);
}

/** The variables that a process was started with, as `NAME=value`; empty for one of another user, or that has ended. */
export const environmentOf = (pid: number): readonly string[] =>
  textOf(`/proc/${pid}/environ`)?.split('\0') ?? [];

function scan(): ProcessRow[] | null {
  if (process.platform !== 'linux') return null;
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return null;
  }
  return names
    .filter((name) => /^\d+$/.test(name))
    .map(rowOf)
    .filter((row) => row !== null);
}

/** The program's name is in brackets and may have any characters, brackets and blanks too. */
export function parseStat(stat: string): ProcessRow {
  const from = stat.indexOf('(');
  const to = stat.lastIndexOf(')');
  const [state, parent, group, session, ...rest] = stat.slice(to + 2).split(' ');
  return {
    pid: Number(stat.slice(0, from - 1)),
    program: stat.slice(from + 1, to),
    isZombie: state === 'Z' || state === 'X',
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedAt: Number(rest[15]),
  };
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
