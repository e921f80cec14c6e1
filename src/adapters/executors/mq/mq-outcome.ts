import { type Evidence, type Outcome } from '../../../domain/execution.js';
import { type Reason } from '../../../domain/reason.js';
import { printable } from '../output-tail.js';
import { errorCode, errorLine, isUnknownExchange, unsentReason, wasRefused } from './mq-errors.js';
import { type MqMessage } from './mq-message.js';
import { type Publication, type PublicationEnd } from './publication.js';

/**
 * What an ended publication means; success: the broker has it in a queue. Evidence: `broker`, `exchange`, `routing_key`, `bytes` (of the
 * body) and `duration_ms` always; `error_code` as the driver or the broker gave it; `may_have_arrived` when the message was sent and
 * nobody knows whether the broker has it.
 */
export function outcomeOf(
  publication: Publication,
  end: PublicationEnd,
  facts: { readonly broker: string; readonly durationMs: number; readonly timeoutMs: number },
  { exchange, routingKey, body }: MqMessage,
): Outcome {
  const always = {
    broker: facts.broker,
    exchange,
    routing_key: routingKey,
    bytes: body.length,
    duration_ms: Math.round(facts.durationMs),
  };
  const fail = (reason: Reason, message: string, more: Evidence = {}): Outcome => ({
    status: 'fail',
    reason,
    message,
    evidence: { ...always, ...more },
  });
  /** Of an end that came before the broker's answer. */
  const unanswered = (reason: Reason, what: string, more: Evidence = {}): Outcome =>
    publication.mayHaveArrived
      ? fail(reason, `${what}; the message may have arrived`, { ...more, may_have_arrived: true })
      : fail(reason, `${what}; the message was not sent`, more);
  switch (end.kind) {
    case 'confirmed':
      return { status: 'success', reason: null, message: null, evidence: always };
    case 'unroutable': {
      const message = `no queue takes ${route(exchange, routingKey)}: ${printable(end.text)}`;
      return fail('unroutable', message, { reply_text: printable(end.text) });
    }
    case 'nacked':
      return fail('nacked', `the broker refused the message for ${route(exchange, routingKey)}`);
    case 'unsent': {
      const evidence = { error_code: errorCode(end.error) };
      if (end.error instanceof RangeError) return fail('configuration', errorLine(end.error), evidence);
      return unanswered(unsentReason(end.error), errorLine(end.error), evidence);
    }
    case 'channel_closed': {
      const evidence = { error_code: errorCode(end.error) };
      if (isUnknownExchange(end.error)) return fail('unknown_exchange', errorLine(end.error), evidence);
      if (wasRefused(end.error)) return fail('channel_closed', errorLine(end.error), evidence);
      return unanswered('channel_closed', errorLine(end.error), evidence);
    }
    case 'connection_lost':
      return unanswered('network', errorLine(end.error), { error_code: errorCode(end.error) });
    case 'stopped':
      return unanswered(end.reason, `${end.reason} before the broker confirmed`);
    case 'deadline': {
      const { timeoutMs } = facts;
      if (publication.isBlocked)
        return unanswered('blocked', `the broker took no messages for ${timeoutMs} ms`);
      return {
        ...unanswered('deadline', `no confirm of the broker within ${timeoutMs} ms`),
        status: 'timeout',
      };
    }
  }
}

const route = (exchange: string, routingKey: string): string =>
  exchange === '' ? `"${routingKey}"` : `exchange "${exchange}", routing key "${routingKey}"`;
