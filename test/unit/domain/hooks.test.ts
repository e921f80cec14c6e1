import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hookProblems,
  type Hooks,
  httpTarget,
  mqTarget,
  type PostHook,
  type PreHook,
  restoreHooks,
} from '../../../src/domain/hooks.js';
import { createTask, reviseTask } from '../../../src/domain/task.js';
import { anyHooks } from '../../support/any-hooks.js';
import { BASE } from '../../support/builders.js';
import { definition } from './definition.js';
import { problemsOf } from './problems-of.js';

const url = 'http://warehouse/ready';
const pre = (overrides: Partial<PreHook> = {}): PreHook => ({
  check: { type: 'http', target: httpTarget({ url, method: 'GET', headers: {} }), timeoutSec: 10 },
  onFail: 'skip',
  retryCount: 3,
  retryIntervalSec: 10,
  ...overrides,
});
const post = (overrides: Partial<PostHook> = {}): PostHook => ({
  on: 'always',
  target: httpTarget({ url, method: 'POST', headers: {} }),
  retryCount: 10,
  retryIntervalSec: 10,
  ...overrides,
});
const fieldsOf = (hooks: Partial<Hooks>) =>
  hookProblems({ pre: null, post: null, ...hooks }, 'sync').map(({ field }) => field);

describe('hooks', () => {
  it('come back from storage as they went in', () => {
    fc.assert(
      fc.property(anyHooks, (hooks) => {
        expect(restoreHooks(JSON.parse(JSON.stringify(hooks)))).toEqual(hooks);
        expect(hookProblems(hooks, 'sync')).toEqual([]);
      }),
    );
  });

  it('are none if anything of them is not of its type', () => {
    const whole = { pre: pre(), post: post({ target: mqTarget({ ...NOWHERE, routingKey: 'q' }) }) };
    const paths = [
      ['pre'],
      ['post'],
      ['pre', 'check'],
      ['pre', 'check', 'type'],
      ['pre', 'check', 'target'],
      ['pre', 'check', 'target', 'url'],
      ['pre', 'check', 'timeoutSec'],
      ['pre', 'onFail'],
      ['pre', 'retryCount'],
      ['post', 'on'],
      ['post', 'target'],
      ['post', 'target', 'type'],
      ['post', 'target', 'routingKey'],
      ['post', 'retryIntervalSec'],
    ];
    for (const path of paths) {
      const copy = structuredClone(whole) as unknown as Record<string, unknown>;
      const parent = path.slice(0, -1).reduce((it, name) => it[name] as Record<string, unknown>, copy);
      parent[path.at(-1) ?? ''] = [];
      expect(restoreHooks(copy), path.join('.')).toBeNull();
    }
    expect(restoreHooks({ pre: { ...pre(), check: { type: 'moon_phase' } }, post: null })).toBeNull();
    expect(restoreHooks(null)).toBeNull();
  });
});

const NOWHERE = { broker: 'default', exchange: '', routingKey: '', headers: {} };

describe('a pre-hook', () => {
  it('is refused for a bad call, by the names of its fields', () => {
    const target = httpTarget({ url: 'http://a:b@c/', method: 'GET', headers: { 'X-A': 'a\nb', Host: 'x' } });
    expect(fieldsOf({ pre: pre({ check: { type: 'http', target, timeoutSec: 61 } }) })).toEqual([
      'hooks.pre.url',
      'hooks.pre.headers.X-A',
      'hooks.pre.headers.Host',
      'hooks.pre.timeout_sec',
    ]);
  });

  it('is refused for retries out of range', () => {
    expect(fieldsOf({ pre: pre({ retryCount: 101, retryIntervalSec: 301 }) })).toEqual([
      'hooks.pre.retry_count',
      'hooks.pre.retry_interval',
    ]);
  });

  it('may not wait for the task itself, nor for something that is no task', () => {
    const waitsFor = (taskId: string): PreHook =>
      pre({ check: { type: 'task_succeeded', taskId, withinSec: 60 } });
    expect(fieldsOf({ pre: waitsFor('load') })).toEqual([]);
    expect(fieldsOf({ pre: waitsFor('a b') })).toEqual(['hooks.pre.task_id']);
    const hooks = { pre: waitsFor('sync'), post: null };
    const refused = [{ field: 'hooks.pre.task_id', problem: 'is the task itself', fix: 'name another task' }];
    expect(problemsOf(() => createTask('sync', definition({ hooks }), BASE))).toEqual(refused);
    const task = createTask('sync', definition(), BASE);
    expect(problemsOf(() => reviseTask(task, definition({ hooks }), BASE))).toEqual(refused);
    expect(createTask('other', definition({ hooks }), BASE).hooks).toEqual(hooks);
  });

  it('looks back 366 days at most', () => {
    const within = (withinSec: number) =>
      fieldsOf({ pre: pre({ check: { type: 'task_succeeded', taskId: 'load', withinSec } }) });
    expect(within(366 * 86_400)).toEqual([]);
    expect(within(366 * 86_400 + 1)).toEqual(['hooks.pre.within_sec']);
    expect(within(0)).toEqual(['hooks.pre.within_sec']);
  });
});

describe('a post-hook', () => {
  it('is refused for a bad target, by the names of its fields', () => {
    expect(fieldsOf({ post: post({ target: mqTarget(NOWHERE) }) })).toEqual([
      'hooks.post.target.routing_key',
    ]);
    const target = httpTarget({ url: 'nowhere', method: 'POST', headers: {} });
    expect(fieldsOf({ post: post({ target, retryCount: -1, retryIntervalSec: 0 }) })).toEqual([
      'hooks.post.target.url',
      'hooks.post.retry_count',
      'hooks.post.retry_interval',
    ]);
  });
});
