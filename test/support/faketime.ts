import { existsSync, readdirSync } from 'node:fs';
import { findOrInstall, type InstallMachine } from './servers/find-or-install.js';

const LIBRARY_FOLDERS = ['/usr/lib', '/usr/lib64', '/usr/local/lib'];

/** `+10` or `-0.5`, as faketime takes offsets in seconds. */
export const offsetText = (seconds: number): string => `${seconds < 0 ? '' : '+'}${seconds}`;

/**
 * Environment of a process whose wall clock is `seconds` ahead, or behind if negative. Its monotonic clock, and so its timers, are right.
 * Where libfaketime is missing it is installed, on Debian as root; else this fails and says what to provide.
 */
export async function shiftedClock(seconds: number): Promise<Readonly<Record<string, string>>> {
  return { ...(await preload()), FAKETIME: offsetText(seconds) };
}

/** As `shiftedClock`, with the offset in a file, as `offsetText`; a process sees a change within a second. */
export async function settableClock(file: string): Promise<Readonly<Record<string, string>>> {
  return { ...(await preload()), FAKETIME_TIMESTAMP_FILE: file, FAKETIME_CACHE_DURATION: '1' };
}

async function preload(): Promise<Readonly<Record<string, string>>> {
  return { LD_PRELOAD: await findFaketime(), FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

/** Path of libfaketime.so.1. @throws Error that says what to provide. */
export async function findFaketime(machine?: InstallMachine, find = findLibrary): Promise<string> {
  const need = 'Tests of wrong clocks';
  return findOrInstall(
    { need, file: 'libfaketime.so.1', title: 'libfaketime', debianPackage: 'libfaketime', find },
    machine,
  );
}

/** Distributions keep it in `faketime/` below a library folder, with or without the machine's name between. */
function findLibrary(): string | undefined {
  return LIBRARY_FOLDERS.filter((folder) => existsSync(folder))
    .flatMap((folder) => [
      folder,
      ...readdirSync(folder)
        .filter((name) => name.endsWith('-linux-gnu'))
        .map((name) => `${folder}/${name}`),
    ])
    .map((folder) => `${folder}/faketime/libfaketime.so.1`)
    .find((file) => existsSync(file));
}
