import { describe, expect, it } from 'vitest';
import { fromDocker, type Engine } from '../../support/servers/from-docker.js';
import { fakeKind } from './fake-kind.js';

const kind = fakeKind();
const never = () => new Promise<never>(() => undefined);

/** An engine with these images that can pull those; `log` tells what it was asked to do. */
function engineWith(images: string[], pull: (image: string) => Promise<void>) {
  const log: string[] = [];
  const engine: Engine = {
    has: async (image) => images.includes(image),
    pull(image) {
      log.push(`pull ${image}`);
      return pull(image);
    },
    async run({ container: { image } }) {
      log.push(`run ${image}`);
      return { url: `container of ${image}`, origin: 'Docker', stop: async () => undefined };
    },
  };
  return { log, engine, images };
}

async function startFrom(engine: Engine, deadlines = { connectMs: 5000, pullMs: 5000 }) {
  const way = fromDocker(async () => engine, deadlines);
  await way.prepare([kind]);
  return way.start(kind);
}

describe('fromDocker', () => {
  it('runs an image that the engine has, without pulling', async () => {
    const { log, engine } = engineWith(['mysql:1'], never);
    expect((await startFrom(engine)).url).toBe('container of mysql:1');
    expect(log).toEqual(['run mysql:1']);
  });

  it('pulls an image that is missing', async () => {
    const { log, engine, images } = engineWith([], async (image) => void images.push(image));
    await startFrom(engine);
    expect(log).toEqual(['pull mysql:1', 'run mysql:1']);
  });

  it.each([
    ['is refused', () => Promise.reject(new Error('no such host')), /no such host/],
    ['ends without the image', () => Promise.resolve(), /mysql:1 could not be pulled$/],
    ['takes too long', never, /mysql:1 could not be pulled within 0.02 s/],
  ])('does not count when the pull %s', async (_, pull, reason) => {
    const { log, engine } = engineWith([], pull);
    await expect(startFrom(engine, { connectMs: 5000, pullMs: 20 })).rejects.toThrow(reason);
    expect(log).toEqual(['pull mysql:1']);
  });

  it.each([
    ['is not there', () => Promise.reject<Engine>(new Error('no engine')), /no engine/],
    ['does not answer', never, /did not answer in 0.02 s/],
  ])('does not count when the engine %s', async (_, connect, reason) => {
    const way = fromDocker(connect, { connectMs: 20, pullMs: 20 });
    await expect(way.prepare([kind])).rejects.toThrow(reason);
  });
});
