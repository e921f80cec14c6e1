import { type FieldProblem } from '../errors.js';
import { isTextRecord } from './text-record.js';

/** Where a command runs instead of on the worker: in a container that runs already, or in a fresh one of an image. */
export type ContainerSpec = { readonly name: string } | { readonly image: string };

/** One command per attempt; exit code 0 is success. */
export interface ShellExecutorSpec {
  readonly type: 'shell';
  /** Either a text for `/bin/sh -c`, or a program and its arguments. */
  readonly run: { readonly command: string } | { readonly argv: readonly string[] };
  /** Absolute; null: the worker's choice. */
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** Name of the user to run as; null: the worker's. */
  readonly user: string | null;
  readonly container: ContainerSpec | null;
}

const MAX_COMMAND_BYTES = 65_536;
const MAX_ARGUMENTS = 1000;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Set by ax itself. */
const RESERVED_ENV = /^AX_/;
const USER_NAME = /^[a-z_][a-z0-9_-]{0,31}$/;
const CONTAINER_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
/** Registry, repository, tag and digest; never an option of the engine. */
const IMAGE_NAME = /^[a-z0-9][A-Za-z0-9._/:@-]{0,254}$/;

/** Every broken rule, by API field (`executor.command`, …); empty when it holds. */
export function shellSpecProblems(spec: ShellExecutorSpec): FieldProblem[] {
  return [
    ...runProblems(spec.run),
    ...cwdProblems(spec.cwd),
    ...envProblems(spec.env),
    ...patternProblems('executor.user', spec.user, USER_NAME, 'give the name of a user, such as "batch"'),
    ...containerProblems(spec.container),
  ];
}

/** From stored JSON; null if it is none. */
export function restoreShellSpec(stored: Readonly<Record<string, unknown>>): ShellExecutorSpec | null {
  const { run, cwd, env, user, container } = stored;
  const how = restoreRun(run);
  if (how === null || !isTextRecord(env) || !isTextOrNull(cwd) || !isTextOrNull(user)) return null;
  if (container === null) return { type: 'shell', run: how, cwd, env, user, container };
  if (!isTextRecord(container)) return null;
  const { name, image } = container;
  if (name !== undefined) return { type: 'shell', run: how, cwd, env, user, container: { name } };
  return image === undefined ? null : { type: 'shell', run: how, cwd, env, user, container: { image } };
}

function restoreRun(run: unknown): ShellExecutorSpec['run'] | null {
  if (typeof run !== 'object' || run === null) return null;
  if ('command' in run) return typeof run.command === 'string' ? { command: run.command } : null;
  if (!('argv' in run) || !Array.isArray(run.argv)) return null;
  const argv: unknown[] = run.argv;
  return argv.every((word) => typeof word === 'string') ? { argv } : null;
}

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string';

function runProblems(run: ShellExecutorSpec['run']): FieldProblem[] {
  const [field, words] = 'command' in run ? ['executor.command', [run.command]] : ['executor.argv', run.argv];
  const refuse = (problem: string, fix: string): FieldProblem[] => [{ field, problem, fix }];
  if ((words[0] ?? '').trim() === '') return refuse('is empty', 'name the program to run');
  if (words.some((word) => word.includes('\0'))) return refuse('has a NUL character', 'leave it out');
  if (words.length > MAX_ARGUMENTS)
    return refuse(`has ${words.length} words`, `give at most ${MAX_ARGUMENTS}`);
  const bytes = new TextEncoder().encode(words.join(' ')).length;
  return bytes > MAX_COMMAND_BYTES
    ? refuse(`has ${bytes} bytes`, `use at most ${MAX_COMMAND_BYTES}; put longer programs into a file`)
    : [];
}

function cwdProblems(cwd: string | null): FieldProblem[] {
  if (cwd === null || /^\/[^\0]{0,4095}$/.test(cwd)) return [];
  return [{ field: 'executor.cwd', problem: 'is not an absolute path', fix: 'begin it with "/"' }];
}

function envProblems(env: Readonly<Record<string, string>>): FieldProblem[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const field = `executor.env.${name}`;
    if (!ENV_NAME.test(name))
      return [{ field, problem: 'is not a variable name', fix: 'use letters, digits and "_"' }];
    if (RESERVED_ENV.test(name)) return [{ field, problem: 'is set by ax', fix: 'use another name' }];
    if (value.length > 32_768 || value.includes('\0'))
      return [{ field, problem: 'is too long or has a NUL character', fix: 'use at most 32768 characters' }];
    return [];
  });
}

function containerProblems(container: ContainerSpec | null): FieldProblem[] {
  if (container === null) return [];
  return 'name' in container
    ? patternProblems(
        'executor.container.name',
        container.name,
        CONTAINER_NAME,
        'use letters, digits, "_", "." or "-"',
      )
    : patternProblems(
        'executor.container.image',
        container.image,
        IMAGE_NAME,
        'give an image such as "alpine:3.20"',
      );
}

function patternProblems(field: string, value: string | null, pattern: RegExp, fix: string): FieldProblem[] {
  return value === null || pattern.test(value)
    ? []
    : [{ field, problem: 'has characters that no such name has', fix }];
}
