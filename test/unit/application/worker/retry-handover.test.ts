import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../../support/run-scene.js';
import { failed } from '../../../support/scripted-executor.js';

const IDEMPOTENT = { isIdempotent: true };

describe('A run that is handed over between two attempts', () => {
  let scene: RunScene;
  beforeEach(async () => {
    scene = await RunScene.open();
  });
  afterEach(() => scene.close());

  const advance = (ms: number) => scene.harness.clock.advance(ms);
  const start = (name: string) => scene.harness.worker(name).start();
  const attempts = () => scene.executor.calls.map(({ request }) => request.attempt);

  it.each(['dies', 'drains'])('has its next attempt when it was planned (its worker %s)', async (how) => {
    scene.executor.script = () => failed();
    await scene.publish({ ...IDEMPOTENT, retryCount: 2, retryIntervalSec: 600 });
    const first = start('first');
    await advance(60_000);
    if (how === 'dies') first.crash();
    else void first.stop();
    await advance(31_000);
    start('second');
    await advance(500_000);
    const states = (await scene.told()).slice(2);
    const handedBack = how === 'dies' ? [] : ['handed_back pending'];
    expect(states).toEqual([
      'retry_planned retrying',
      ...handedBack,
      'claimed running',
      'reclaimed retrying',
    ]);
    expect(attempts()).toEqual([1]);
    await advance(600_000 - 591_000);
    expect(attempts()).toEqual([1, 2]);
    await advance(600_000);
    expect(attempts()).toEqual([1, 2, 3]);
    expect((await scene.ended())[0]).toMatchObject({ status: 'fail', attempt: 3, worker: 'second' });
  });

  it('and is cancelled while another worker waits on, has none', async () => {
    scene.executor.script = () => failed();
    const [message] = await scene.publish({ ...IDEMPOTENT, retryCount: 2, retryIntervalSec: 600 });
    const first = start('first');
    await advance(60_000);
    first.crash();
    start('second');
    await advance(60_000);
    expect(await scene.cancel(message!)).toBe('requested');
    await advance(0);
    expect(await scene.endings()).toEqual(['fail cancelled']);
    expect(attempts()).toEqual([1]);
  });
});
