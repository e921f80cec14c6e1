import { afterEach, beforeEach, expect, it } from 'vitest';
import { InProcessWorkerRegistry } from '../../../../src/adapters/embedded/in-process-worker-registry.js';
import { type TaskDraft, ManageTasks } from '../../../../src/application/tasks/manage-tasks.js';
import { AxError } from '../../../../src/domain/errors.js';
import { DEFAULT_POLICY } from '../../../../src/domain/policy.js';
import { intervalAnchor } from '../../../../src/domain/schedule.js';
import { BASE, buildTask } from '../../../support/builders.js';
import { NodeHarness } from '../../../support/node-harness.js';

const DEPLOYER = { name: 'deployer', traceparent: null };
const SECOND = 1000;

let harness: NodeHarness;
beforeEach(async () => {
  harness = await NodeHarness.open();
});
afterEach(() => harness.close());

const draft: TaskDraft = (createdAt) => ({
  ...buildTask(),
  policy: { ...DEFAULT_POLICY, isIdempotent: true },
  schedule: {
    type: 'interval',
    everySec: 5,
    anchorAt: intervalAnchor(null, createdAt),
    startAt: null,
    endAt: null,
    jitterSec: 0,
  },
});

/** As a service does at its start: there it is, whether new or not. */
async function register(manage: ManageTasks): Promise<void> {
  try {
    await manage.create('sync', draft, DEPLOYER);
  } catch (error) {
    if (!(error instanceof AxError) || error.code !== 'already_exists') throw error;
    await manage.replace('sync', null, draft, DEPLOYER);
  }
}

it('a node that crashes 20 times in ten seconds and registers its task at each start plans no slot twice (SO-03)', async () => {
  const { tasks, wakeup, clock, ids, executor } = harness;
  const registry = new InProcessWorkerRegistry(clock);
  const manage = new ManageTasks({ tasks, wakeup, registry, clock, ids });
  await register(manage);
  harness.coordinator('steady').start();
  harness.worker('worker-1').start();
  for (let restart = 1; restart <= 20; restart += 1) {
    const node = harness.coordinator(`restart-${restart}`).start();
    await register(manage);
    await clock.advance(SECOND / 2);
    node.crash();
  }
  await clock.advance(20 * SECOND);

  const slots = [5, 10, 15, 20, 25, 30].map((second) => BASE + second * SECOND);
  const runs = await harness.all('sync');
  expect(runs.map(({ event, status }) => ({ slot: event.slot, status }))).toEqual(
    slots.map((slot) => ({ slot, status: 'success' })),
  );
  expect(executor.calls.map(({ request }) => request.slot)).toEqual(slots);
  expect(await tasks.find('sync')).toMatchObject({ nextTriggerTime: BASE + 35 * SECOND });
});
