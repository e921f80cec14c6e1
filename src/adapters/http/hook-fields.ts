import { z } from 'zod';
import { HTTP_METHODS } from '../../domain/executors/http-spec.js';
import {
  DEFAULT_POST,
  DEFAULT_PRE,
  type Hooks,
  httpTarget,
  mqTarget,
  ON_FAIL,
  POST_ON,
  type PostHook,
  type PreHook,
} from '../../domain/hooks.js';
import { strict } from './field-problems.js';

const headers = z.record(z.string(), z.string()).default({});

const onFail = {
  on_fail: z.enum(ON_FAIL).default(DEFAULT_PRE.onFail),
  retry_count: z.number().default(DEFAULT_PRE.retryCount),
  retry_interval: z.number().default(DEFAULT_PRE.retryIntervalSec),
};

const pre = z.discriminatedUnion('type', [
  strict({
    type: z.literal('http'),
    url: z.string(),
    method: z.enum(HTTP_METHODS).default('GET'),
    headers,
    timeout_sec: z.number().default(DEFAULT_PRE.timeoutSec),
    ...onFail,
  }),
  strict({ type: z.literal('task_succeeded'), task_id: z.string(), within_sec: z.number(), ...onFail }),
]);

const target = z.discriminatedUnion('type', [
  strict({ type: z.literal('http'), url: z.string(), method: z.enum(HTTP_METHODS).default('POST'), headers }),
  strict({
    type: z.literal('mq'),
    broker: z.string().default('default'),
    exchange: z.string().default(''),
    routing_key: z.string(),
    headers,
  }),
]);

const post = strict({
  on: z.enum(POST_ON),
  target,
  retry_count: z.number().default(DEFAULT_POST.retryCount),
  retry_interval: z.number().default(DEFAULT_POST.retryIntervalSec),
});

/** The `hooks` of a task's JSON. */
export const hooks = strict({
  pre: pre.nullable().default(null),
  post: post.nullable().default(null),
}).default({ pre: null, post: null });

export const hooksOf = (fields: z.output<typeof hooks>): Hooks => ({
  pre: fields.pre === null ? null : preOf(fields.pre),
  post: fields.post === null ? null : postOf(fields.post),
});

const preOf = (fields: z.output<typeof pre>): PreHook => ({
  check:
    fields.type === 'http'
      ? { type: 'http', target: httpTarget(fields), timeoutSec: fields.timeout_sec }
      : { type: 'task_succeeded', taskId: fields.task_id, withinSec: fields.within_sec },
  onFail: fields.on_fail,
  retryCount: fields.retry_count,
  retryIntervalSec: fields.retry_interval,
});

const postOf = (fields: z.output<typeof post>): PostHook => ({
  on: fields.on,
  target:
    fields.target.type === 'http'
      ? httpTarget(fields.target)
      : mqTarget({ ...fields.target, routingKey: fields.target.routing_key }),
  retryCount: fields.retry_count,
  retryIntervalSec: fields.retry_interval,
});

/** As `hooksOf` reads it. */
export const hooksJson = (stored: Hooks): Readonly<Record<string, unknown>> => ({
  pre: stored.pre === null ? null : preJson(stored.pre),
  post: stored.post === null ? null : postJson(stored.post),
});

const preJson = ({ check, onFail: on_fail, retryCount, retryIntervalSec }: PreHook) => ({
  ...(check.type === 'http'
    ? { type: check.type, ...callJson(check.target), timeout_sec: check.timeoutSec }
    : { type: check.type, task_id: check.taskId, within_sec: check.withinSec }),
  on_fail,
  retry_count: retryCount,
  retry_interval: retryIntervalSec,
});

const postJson = ({ on, target: to, retryCount, retryIntervalSec }: PostHook) => ({
  on,
  target:
    to.type === 'http'
      ? { type: to.type, ...callJson(to) }
      : {
          type: to.type,
          broker: to.broker,
          exchange: to.exchange,
          routing_key: to.routingKey,
          headers: to.headers,
        },
  retry_count: retryCount,
  retry_interval: retryIntervalSec,
});

const callJson = ({ url, method, headers: lines }: Parameters<typeof httpTarget>[0]) => ({
  url,
  method,
  headers: lines,
});
