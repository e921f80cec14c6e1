import type { RunningServer, ServerKind } from './server-kind.js';
import { untilReady } from './until-ready.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Way 1: the server that the kind's variable names, or undefined when it is not set.
 * A server that was named and does not answer is an error that names the variable, never a reason to use another one.
 */
export async function fromEnvironment(
  kind: ServerKind,
  environment: Environment,
  deadlineMs = 10_000,
): Promise<RunningServer | undefined> {
  const url = environment[kind.variable];
  if (!url) return undefined;
  try {
    const version = await untilReady(() => kind.logIn(url), { deadlineMs });
    return { url, origin: `${kind.variable}, version ${version}`, stop: async () => undefined };
  } catch (error) {
    throw new Error(
      `${kind.variable} is set, but no ${kind.title} answers there: ${String(error)}. ` +
        'Correct it, or unset it to let the tests find a server.',
      { cause: error },
    );
  }
}
