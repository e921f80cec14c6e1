import type { ProvidedContext } from 'vitest';

/** Where a throwaway server lives. `password` is random, so a stranger on the same port can't be mistaken for it. */
export interface Place {
  readonly directory: string;
  readonly port: number;
  /** For servers that need more than one. */
  readonly sparePorts: readonly [number, number];
  readonly password: string;
}

/** How to run one server from the programs of this machine. */
export interface ProgramRecipe {
  /** What people call the program, where that is not the name of the last command. */
  readonly name?: string;
  /** Accounts to run as when the tests run as root, best first. */
  readonly users: readonly string[];
  /** Files to lay into `place.directory`: name → text. */
  files(place: Place): Readonly<Record<string, string>>;
  /** Command lines run one after another; the last one is the server itself and stays in the foreground. */
  commands(place: Place): readonly (readonly [program: string, ...args: string[]])[];
}

export interface ContainerRecipe {
  readonly image: string;
  readonly port: number;
  readonly environment: (password: string) => Record<string, string>;
  /** Arguments for the image's entrypoint. */
  readonly command: (password: string) => string[];
}

/** The path of a program of this name, or undefined. */
export type FindProgram = (name: string) => string | undefined;

/**
 * Everything the tests know about one kind of server. A new kind is one file with such an object,
 * and a line in `kinds.ts`.
 */
export interface ServerKind {
  readonly title: string;
  /** The key under which tests `inject` its URL; the kind's file declares it in `ProvidedContext`. */
  readonly provides: keyof ProvidedContext;
  /** The environment variable that names a server which already runs. */
  readonly variable: string;
  /** Where a server with this address and password is reached; no database in the path. */
  url(address: { readonly host: string; readonly port: number }, password: string): string;
  /** Logs in and asks something. Resolves with the server's own version; rejects within 5 s when that fails. */
  logIn(url: string): Promise<string>;
  readonly container: ContainerRecipe;
  /** What to look for on the machine, in words. */
  readonly programs: string;
  /** Undefined when the programs are not on this machine. */
  recipe(find: FindProgram): ProgramRecipe | undefined;
  readonly debianPackage: string;
}

export interface RunningServer {
  readonly url: string;
  /** One phrase: what it is and who started it. */
  readonly origin: string;
  /** Ends the server and removes what it left. Idempotent; does nothing to a server that was there before. */
  stop(): Promise<void>;
}

/** One way to come by servers. Errors mean: not by this way, and say why. */
export interface Way {
  readonly title: string;
  /** Called once with every kind still missing, before `start`. */
  prepare(kinds: readonly ServerKind[]): Promise<void>;
  start(kind: ServerKind): Promise<RunningServer>;
}
