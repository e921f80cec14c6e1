import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { WaitStrategy } from 'testcontainers';
import { announce } from './announce.js';
import type { Engine } from './from-docker.js';
import { startGuard } from './guard.js';
import type { RunningServer, ServerKind } from './server-kind.js';
import { untilReady } from './until-ready.js';

const startDeadlineMs = 120_000;
const runLabel = 'ax.test.run';

/**
 * The engine that testcontainers finds (DOCKER_HOST, the usual sockets); rejects when there is none.
 * testcontainers is loaded only here, since most runs get their servers another way.
 */
export async function connectDocker(): Promise<Engine> {
  // Our guard removes the containers, however the run ends; Ryuk would do the same from one more image to pull.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  const { GenericContainer, ImageName, getContainerRuntimeClient } = await import('testcontainers');
  const { image } = await getContainerRuntimeClient();

  async function run(kind: ServerKind): Promise<RunningServer> {
    const recipe = kind.container;
    const password = randomBytes(12).toString('hex');
    const id = randomUUID();
    const guard = startGuard('./container-guard.mjs', { label: `${runLabel}=${id}` });
    const output: string[] = [];
    let version = '';

    const waiting: WaitStrategy = {
      async waitUntilReady(container, ports) {
        const { host } = (await getContainerRuntimeClient()).info.containerRuntime;
        const address = { host, port: ports.getBinding(recipe.port) };
        version = await untilReady(() => kind.logIn(kind.url(address, password)), {
          deadlineMs: startDeadlineMs,
          gaveUp: async () => {
            const { State: state } = await container.inspect();
            return state.Running
              ? undefined
              : `the container of ${recipe.image} ended with exit code ${state.ExitCode}`;
          },
          evidence: async () => {
            await pause(200);
            return output.join('').slice(-2000);
          },
        });
      },
      withStartupTimeout: () => waiting,
      isStartupTimeoutSet: () => true,
      getStartupTimeout: () => startDeadlineMs,
    };

    try {
      const container = await new GenericContainer(recipe.image)
        .withEnvironment(recipe.environment(password))
        .withCommand(recipe.command(password))
        .withExposedPorts(recipe.port)
        .withLabels({ [runLabel]: id })
        .withLogConsumer((log) => log.on('data', (line: Buffer | string) => output.push(String(line))))
        .withWaitStrategy(waiting)
        .start();
      const address = { host: container.getHost(), port: container.getMappedPort(recipe.port) };
      return {
        url: kind.url(address, password),
        origin: `a container of ${recipe.image}, version ${version}`,
        stop: () => guard.end(),
      };
    } catch (error) {
      await guard.end();
      throw error;
    }
  }

  return {
    has: (name) => image.exists(ImageName.fromString(name)),
    pull(name) {
      announce(`pulling ${name}`);
      return image.pull(ImageName.fromString(name));
    },
    run,
  };
}
