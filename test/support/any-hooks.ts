import fc from 'fast-check';
import { HTTP_METHODS } from '../../src/domain/executors/http-spec.js';
import {
  type Hooks,
  httpTarget,
  mqTarget,
  ON_FAIL,
  POST_ON,
  type PostHook,
  type PreHook,
} from '../../src/domain/hooks.js';

const whole = (min: number, max: number) => fc.integer({ min, max });
const headers = fc.dictionary(fc.stringMatching(/^A[a-z-]{0,20}$/), fc.stringMatching(/^[ -~]{0,50}$/), {
  maxKeys: 3,
});

const http = fc
  .record({ url: fc.webUrl(), method: fc.constantFrom(...HTTP_METHODS), headers })
  .map((drawn) => httpTarget(drawn));
const mq = fc
  .record({
    broker: fc.constantFrom('default', 'orders_2'),
    exchange: fc.stringMatching(/^[a-z.]{0,20}$/),
    routingKey: fc.stringMatching(/^[a-z.]{1,20}$/),
    headers,
  })
  .map((drawn) => mqTarget(drawn));

const check = fc.oneof(
  fc.record({ type: fc.constant('http' as const), target: http, timeoutSec: whole(1, 60) }),
  fc.record({
    type: fc.constant('task_succeeded' as const),
    // No task that is drawn has such an id.
    taskId: fc.stringMatching(/^[a-z][a-z0-9._-]{0,30}$/).map((id) => `${id}-before-${'x'.repeat(20)}`),
    withinSec: whole(1, 366 * 86_400),
  }),
);
const pre: fc.Arbitrary<PreHook> = fc.record({
  check,
  onFail: fc.constantFrom(...ON_FAIL),
  retryCount: whole(0, 100),
  retryIntervalSec: whole(1, 300),
});
const post: fc.Arbitrary<PostHook> = fc.record({
  on: fc.constantFrom(...POST_ON),
  target: fc.oneof(http, mq),
  retryCount: whole(0, 100),
  retryIntervalSec: whole(1, 3600),
});

/** Any valid hooks. */
export const anyHooks: fc.Arbitrary<Hooks> = fc.record({ pre: fc.option(pre), post: fc.option(post) });
