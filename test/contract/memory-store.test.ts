import { describe, expect, it } from 'vitest';
import { BASE, buildTask } from '../support/builders.js';
import { fireAll } from '../support/deciding.js';
import { MemoryDb } from '../support/memory-store/memory-db.js';
import { MemoryTaskRepo } from '../support/memory-store/memory-task-repo.js';
import { MemoryTriggerRepo } from '../support/memory-store/memory-trigger-repo.js';
import { openMemoryStore } from '../support/memory-store/memory-store.js';
import { auditOf } from '../support/store.js';
import { auditLogSuite } from './audit-log.suite.js';
import { calendarRepoSuite } from './calendar-repo.suite.js';
import { durationRepoSuite } from './duration-repo.suite.js';
import { executionListSuite } from './execution-list.suite.js';
import { executionRepoSuite } from './execution-repo.suite.js';
import { historyRepoSuite } from './history-repo.suite.js';
import { hookRepoSuite } from './hook-repo.suite.js';
import { loadRepoSuite } from './load-repo.suite.js';
import { manualRunSuite } from './manual-run.suite.js';
import { taskDemandSuite } from './task-demand.suite.js';
import { taskListSuite } from './task-list.suite.js';
import { taskRepoSuite } from './task-repo.suite.js';
import { tokenRepoSuite } from './token-repo.suite.js';
import { triggerRepoSuite } from './trigger-repo.suite.js';
import { triggerTasksSuite } from './trigger-tasks.suite.js';

taskRepoSuite('memory', openMemoryStore);
taskListSuite('memory', openMemoryStore);
taskDemandSuite('memory', openMemoryStore);
triggerRepoSuite('memory', openMemoryStore);
triggerTasksSuite('memory', openMemoryStore);
manualRunSuite('memory', openMemoryStore);
executionRepoSuite('memory', openMemoryStore);
executionListSuite('memory', openMemoryStore);
tokenRepoSuite('memory', openMemoryStore);
auditLogSuite('memory', openMemoryStore);
historyRepoSuite('memory', openMemoryStore);
durationRepoSuite('memory', openMemoryStore);
loadRepoSuite('memory', openMemoryStore);
calendarRepoSuite('memory', openMemoryStore);

describe('A decision that takes its time', () => {
  const open = async () => {
    const db = new MemoryDb({ now: () => BASE });
    const tasks = new MemoryTaskRepo(db);
    const task = buildTask({ nextTriggerTime: BASE });
    await tasks.insert(task, auditOf(task.id));
    let end: (error?: Error) => void = () => undefined;
    const meanwhile = () =>
      new Promise<void>(
        (resolve, reject) => (end = (error) => (error === undefined ? resolve() : reject(error))),
      );
    const decide = (triggers: MemoryTriggerRepo) =>
      triggers.decideDue({ now: BASE, limit: 10, mayCommit: () => true }, (due) => fireAll(due));
    const slow = decide(new MemoryTriggerRepo(db, meanwhile));
    return { db, tasks, task, slow, decide, end: (error?: Error) => end(error) };
  };

  it('holds its rows: another decision passes over them, and an edit waits', async () => {
    const { db, tasks, task, slow, decide, end } = await open();
    expect(await decide(new MemoryTriggerRepo(db))).toMatchObject({ recorded: [], dueCount: 0 });
    const edit = tasks.update(task.id, null, (current) => {
      expect(current).toMatchObject({ nextTriggerTime: BASE + 3_600_000 });
      return { task, audit: auditOf(task.id) };
    });
    end();
    expect((await slow).recorded).toHaveLength(1);
    await edit;
  });

  it('leaves nothing behind when it fails', async () => {
    const { db, slow, decide, end } = await open();
    end(new Error('gone'));
    await expect(slow).rejects.toThrow('gone');
    expect(db.events.size).toBe(0);
    expect((await decide(new MemoryTriggerRepo(db))).recorded).toHaveLength(1);
  });
});
hookRepoSuite('memory', openMemoryStore);
