import { connectDocker } from './docker-engine.js';
import type { RunningServer, ServerKind, Way } from './server-kind.js';

/** What the tests ask of a container engine. Every method rejects when the engine refuses. */
export interface Engine {
  has(image: string): Promise<boolean>;
  pull(image: string): Promise<void>;
  /** Starts a container that the end of the test run removes; resolves when it can be logged in to. */
  run(kind: ServerKind): Promise<RunningServer>;
}

export interface DockerDeadlines {
  readonly connectMs: number;
  /** For the images of all kinds together. */
  readonly pullMs: number;
}

async function within<T>(promise: Promise<T>, deadlineMs: number, complaint: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(complaint)), deadlineMs);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Way 2: containers. An engine counts only for the kinds whose image it has or can pull in time, so an engine without a
 * network costs seconds, not the run.
 */
export function fromDocker(
  connect: () => Promise<Engine> = connectDocker,
  deadlines: DockerDeadlines = { connectMs: 10_000, pullMs: 60_000 },
): Way {
  let engine: Engine | undefined;
  let pullUntil = 0;

  async function obtain(image: string, from: Engine) {
    if (await from.has(image)) return;
    const late = `${image} could not be pulled within ${deadlines.pullMs / 1000} s`;
    await within(from.pull(image), Math.max(pullUntil - Date.now(), 1), late);
    if (!(await from.has(image))) throw new Error(`${image} could not be pulled`);
  }

  return {
    title: 'Docker',
    async prepare() {
      engine = await within(
        connect(),
        deadlines.connectMs,
        `the engine did not answer in ${deadlines.connectMs / 1000} s`,
      );
      pullUntil = Date.now() + deadlines.pullMs;
    },
    async start(kind) {
      if (!engine) throw new Error('the engine was not asked');
      await obtain(kind.container.image, engine);
      return engine.run(kind);
    },
  };
}
