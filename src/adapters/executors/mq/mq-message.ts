import { type Options } from 'amqplib';
import { type MqExecutorSpec } from '../../../domain/executors/mq-spec.js';
import { type ExecutorRequest } from '../../../ports/executor.js';
import { runBody } from '../run-body.js';

/** One message as it goes out. */
export interface MqMessage {
  readonly exchange: string;
  readonly routingKey: string;
  readonly body: Buffer;
  readonly options: Options.Publish & { readonly messageId: string };
}

/** Where the consumers of one ax send their receipts, on the broker that the message came from. */
export const replyQueueOf = (namespace: string): string => `ax.${namespace}.receipts`;

type MqRequest = ExecutorRequest<MqExecutorSpec>;

/**
 * The message of an attempt, whose id is the same for all attempts of one execution; or that of a hook, with a type and an id of its own.
 * `now`: epoch ms.
 */
export function runMessage(request: MqRequest, replyQueue: string, now: number): MqMessage {
  const { receipt, hook } = request;
  const receiptHeaders =
    receipt === null
      ? {}
      : {
          'x-ax-receipt-token': receipt.token,
          ...(receipt.url === null ? {} : { 'x-ax-receipt-url': receipt.url }),
        };
  return message(request, runBody(request), {
    ...common(request, now),
    type: hook === undefined ? 'ax.run' : 'ax.hook',
    messageId: hook?.key ?? request.executionId,
    // Comes back as `basic.return` if no queue takes it, where it would be dropped without a word.
    mandatory: true,
    headers: {
      ...headers(request),
      ...receiptHeaders,
      ...(hook === undefined ? {} : { 'x-ax-hook': hook.kind }),
    },
    ...(receipt === null ? {} : { replyTo: replyQueue }),
  });
}

/** Tells the consumer of an attempt that nobody waits for its receipt any more. `now`: epoch ms. */
export function cancelMessage(request: MqRequest, reason: string, now: number): MqMessage {
  const { executionId, taskId, attempt } = request;
  const body = JSON.stringify({ execution_id: executionId, task_id: taskId, attempt, reason });
  return message(request, body, {
    ...common(request, now),
    type: 'ax.cancel',
    messageId: `cancel.${executionId}`,
    headers: { ...headers(request), 'x-ax-cancel-reason': reason },
  });
}

const message = (
  { spec: { exchange, routingKey } }: MqRequest,
  body: string,
  options: MqMessage['options'],
): MqMessage => ({ exchange, routingKey, body: Buffer.from(body), options });

const common = ({ executionId }: MqRequest, now: number) => ({
  correlationId: executionId,
  // AMQP counts seconds.
  timestamp: Math.floor(now / 1000),
  persistent: true,
  contentType: 'application/json',
  appId: 'ax',
});

const headers = (request: MqRequest) => ({
  ...request.spec.headers,
  traceparent: request.traceparent,
  'x-ax-task-id': request.taskId,
  'x-ax-execution-id': request.executionId,
  'x-ax-attempt': request.attempt,
  'x-ax-schedule-at': request.slot,
  'x-ax-fired-at': request.firedAt,
});
