import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checked } from '../../../../src/adapters/http/field-problems.js';
import { hooks, hooksJson, hooksOf } from '../../../../src/adapters/http/hook-fields.js';
import { NO_HOOKS } from '../../../../src/domain/hooks.js';
import { anyHooks } from '../../../support/any-hooks.js';
import { problemsOf } from '../../domain/problems-of.js';

const read = (json: unknown) => hooksOf(checked(hooks, json));
const url = 'http://warehouse/ready';

describe('the hooks of a task', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(anyHooks, (some) => {
        expect(read(JSON.parse(JSON.stringify(hooksJson(some))))).toEqual(some);
      }),
    );
  });

  it('are none unless given', () => {
    expect(read(undefined)).toEqual(NO_HOOKS);
    expect(read({})).toEqual(NO_HOOKS);
    expect(read({ pre: null, post: null })).toEqual(NO_HOOKS);
  });

  it('get the defaults that docs/hooks.md tells', () => {
    const { pre, post } = read({
      pre: { type: 'http', url },
      post: { on: 'failure', target: { type: 'http', url } },
    });
    expect(hooksJson({ pre, post })).toEqual({
      pre: {
        type: 'http',
        url,
        method: 'GET',
        headers: {},
        timeout_sec: 10,
        on_fail: 'skip',
        retry_count: 3,
        retry_interval: 10,
      },
      post: {
        on: 'failure',
        target: { type: 'http', url, method: 'POST', headers: {} },
        retry_count: 10,
        retry_interval: 10,
      },
    });
    const mq = read({ post: { on: 'always', target: { type: 'mq', routing_key: 'runs' } } });
    expect(mq.post?.target).toMatchObject({ broker: 'default', exchange: '', routingKey: 'runs' });
  });

  it.each([
    [{ pre: { type: 'task_succeeded', task_id: 'load' } }, 'pre.within_sec'],
    [{ pre: { type: 'http', url, within_sec: 1 } }, 'pre.within_sec'],
    [{ pre: { type: 'dns' } }, 'pre.type'],
    [{ pre: { type: 'http', url, on_fail: 'ignore' } }, 'pre.on_fail'],
    [{ post: { target: { type: 'http', url } } }, 'post.on'],
    [{ post: { on: 'always', target: { type: 'shell', command: 'x' } } }, 'post.target.type'],
    [{ post: { on: 'always', target: { type: 'mq' } } }, 'post.target.routing_key'],
    [{ prae: null }, 'prae'],
  ])('%j is refused by its field', (json, field) => {
    expect(problemsOf(() => read(json)).map((problem) => problem.field)).toEqual([field]);
  });
});
