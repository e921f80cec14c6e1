import { existsSync, statSync } from 'node:fs';
import { type HostCommand } from './host-command.js';

/** One line for people about a command that the system refused to start. `code` as of errno, `told` as Node has it. */
export function whyNotStarted({ argv, cwd }: HostCommand, code: string, told: string): string {
  const [program = ''] = argv;
  const isFolder = isFolderAt(cwd);
  switch (code) {
    case 'ENOENT':
      if (isFolder === null) return `the working directory "${cwd}" does not exist`;
      if (!program.includes('/')) return `there is no program "${program}" in PATH`;
      return existsSync(program)
        ? `the interpreter that "${program}" names does not exist`
        : `there is no program "${program}"`;
    case 'ENOTDIR':
      return isFolder === false
        ? `the working directory "${cwd}" is not a directory`
        : `there is no program "${program}"`;
    case 'EACCES':
    case 'EPERM':
      return `the worker may not execute "${program}", or not enter "${cwd}"`;
    case 'E2BIG':
      return 'arguments and environment together are too large for this system';
    default:
      return `"${program}" was not started: ${told.split('\n', 1)[0]}`;
  }
}

/** Null if there is nothing, or if it may not be looked at. */
function isFolderAt(path: string): boolean | null {
  try {
    return statSync(path).isDirectory();
  } catch {
    return null;
  }
}
