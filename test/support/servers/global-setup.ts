import type { TestProject } from 'vitest/node';
import { announce } from './announce.js';
import { findServers, type FoundServer } from './find-servers.js';
import { fromDocker } from './from-docker.js';
import { fromPrograms } from './from-programs.js';
import { installDebian } from './install-debian.js';
import { groupsFor } from './kinds.js';
import type { ServerKind } from './server-kind.js';

interface Shared {
  users: number;
  /** By the titles of a group, each started when the first project needs it. */
  readonly servers: Map<string, Promise<readonly FoundServer[]>>;
}

/** vitest loads this module once per project, so what the projects share hangs on the process. */
const slot = Symbol.for('ax.test.servers');
const run = globalThis as typeof globalThis & { [slot]?: Shared };

async function find(kinds: readonly ServerKind[]): Promise<readonly FoundServer[]> {
  const ways = [fromDocker(), fromPrograms(), installDebian()];
  const servers = await findServers({ kinds, environment: process.env, ways });
  for (const { kind, origin, passedOver } of servers) {
    const others = passedOver.map((reason) => reason.split('\n', 1)[0]?.slice(0, 160)).join('; ');
    announce(`${kind.title} from ${origin}${others ? ` (not by ${others})` : ''}`);
  }
  return servers;
}

/** vitest's globalSetup: the first project starts the servers, the last one that ends stops them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = (run[slot] ??= { users: 0, servers: new Map() });
  shared.users += 1;
  const searches = groupsFor(project.name).map((kinds) => {
    const group = kinds.map(({ title }) => title).join();
    const servers = shared.servers.get(group) ?? find(kinds);
    shared.servers.set(group, servers);
    return servers;
  });
  for (const { kind, url } of (await Promise.all(searches)).flat()) project.provide(kind.provides, url);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    delete run[slot];
    const servers = await Promise.allSettled(shared.servers.values());
    await Promise.all(
      servers.flatMap((found) =>
        found.status === 'fulfilled' ? found.value.map((server) => server.stop()) : [],
      ),
    );
  };
}
