import type { TestProject } from 'vitest/node';
import { announce } from './announce.js';
import { findServers, type FoundServer } from './find-servers.js';
import { fromDocker } from './from-docker.js';
import { fromPrograms } from './from-programs.js';
import { installDebian } from './install-debian.js';
import { kinds } from './kinds.js';

interface Shared {
  users: number;
  servers: Promise<readonly FoundServer[]>;
}

/** vitest loads this module once per project, so what the projects share hangs on the process. */
const slot = Symbol.for('ax.test.servers');
const run = globalThis as typeof globalThis & { [slot]?: Shared };

async function find(): Promise<readonly FoundServer[]> {
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
  const shared = (run[slot] ??= { users: 0, servers: find() });
  shared.users += 1;
  const servers = await shared.servers;
  for (const { kind, url } of servers) project.provide(kind.provides, url);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    delete run[slot];
    await Promise.all(servers.map((server) => server.stop()));
  };
}
