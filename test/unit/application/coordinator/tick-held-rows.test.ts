import { expect, it } from 'vitest';
import { InProcessBroker } from '../../../../src/adapters/embedded/in-process-broker.js';
import { InProcessLock } from '../../../../src/adapters/embedded/in-process-lock.js';
import { InProcessWakeup } from '../../../../src/adapters/embedded/in-process-wakeup.js';
import { BASE } from '../../../support/builders.js';
import { ClockIds } from '../../../support/clock-ids.js';
import { CoordinatorNode } from '../../../support/coordinator-node.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { MemoryDb } from '../../../support/memory-store/memory-db.js';
import { MemoryExecutionRepo } from '../../../support/memory-store/memory-execution-repo.js';
import { MemoryTaskRepo } from '../../../support/memory-store/memory-task-repo.js';
import { MemoryTriggerRepo } from '../../../support/memory-store/memory-trigger-repo.js';
import { every } from '../../../support/node-harness.js';
import { auditOf } from '../../../support/store.js';

it('A leader waits a moment for a due task that another transaction holds, and fires it when it is free', async () => {
  const clock = new FakeClock(BASE);
  const db = new MemoryDb(clock);
  const ports = {
    clock,
    ids: new ClockIds(clock),
    wakeup: new InProcessWakeup(),
    triggers: new MemoryTriggerRepo(db),
    executions: new MemoryExecutionRepo(db),
    lock: new InProcessLock(clock),
    broker: new InProcessBroker(clock, 'life-1'),
  };
  const { tick } = new CoordinatorNode(ports, 'leader', {});
  await new MemoryTaskRepo(db).insert(every(10, { id: 'task' }), auditOf('task'));
  await clock.advance(10_000);

  let release = (): void => undefined;
  const held = db.holding(['task'], () => new Promise<void>((resolve) => (release = resolve)));
  expect(await tick.turn()).toBe(20);
  expect(db.events.size).toBe(0);
  release();
  await held;
  expect(await tick.turn()).toBe(1000);
  expect([...db.events.values()].map(({ event }) => event.slot)).toEqual([BASE + 10_000]);
});
