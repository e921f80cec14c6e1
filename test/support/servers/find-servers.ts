import type { Environment } from './from-environment.js';
import { fromEnvironment } from './from-environment.js';
import type { RunningServer, ServerKind, Way } from './server-kind.js';

export interface FoundServer extends RunningServer {
  readonly kind: ServerKind;
  /** The ways that were tried before, each with why it failed. */
  readonly passedOver: readonly string[];
}

export interface Search {
  readonly kinds: readonly ServerKind[];
  readonly environment: Environment;
  /** Tried in this order for what the environment does not name. */
  readonly ways: readonly Way[];
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/**
 * Finds one server per kind: first the environment, then way after way for the kinds still missing.
 * Throws one error that says what was tried and what to provide; then nothing that was started is left running.
 */
export async function findServers({ kinds, environment, ways }: Search): Promise<readonly FoundServer[]> {
  const found = new Map<ServerKind, FoundServer>();
  try {
    await Promise.all(
      kinds.map(async (kind) => {
        const server = await fromEnvironment(kind, environment);
        if (server) found.set(kind, { ...server, kind, passedOver: [] });
      }),
    );
    const failures = new Map<ServerKind, string[]>(kinds.map((kind) => [kind, []]));
    for (const way of ways) {
      const missing = kinds.filter((kind) => !found.has(kind));
      if (missing.length === 0) break;
      const note = (kind: ServerKind, error: unknown) =>
        failures.get(kind)?.push(`${way.title}: ${reasonOf(error)}`);
      try {
        await way.prepare(missing);
      } catch (error) {
        missing.forEach((kind) => note(kind, error));
        continue;
      }
      await Promise.all(
        missing.map(async (kind) => {
          try {
            const server = await way.start(kind);
            found.set(kind, { ...server, kind, passedOver: failures.get(kind) ?? [] });
          } catch (error) {
            note(kind, error);
          }
        }),
      );
    }
    const missing = kinds.filter((kind) => !found.has(kind));
    if (missing.length > 0) throw new Error(explain(missing, failures));
    return kinds.flatMap((kind) => found.get(kind) ?? []);
  } catch (error) {
    await Promise.all([...found.values()].map((server) => server.stop()));
    throw error;
  }
}

function explain(
  missing: readonly ServerKind[],
  failures: ReadonlyMap<ServerKind, readonly string[]>,
): string {
  return missing
    .map((kind) =>
      [
        `The tests need a ${kind.title} server and could not get one. Tried:`,
        `  - ${kind.variable}: not set`,
        ...(failures.get(kind) ?? []).map((failure) => `  - ${failure}`),
        'Provide one of these:',
        `  - ${kind.variable}, the URL of a running server`,
        `  - a Docker engine that has or can pull the image ${kind.container.image}`,
        `  - the programs ${kind.programs} on this machine`,
        `  - on Debian, root: then the tests install ${kind.debianPackage} themselves`,
      ].join('\n'),
    )
    .join('\n\n');
}
