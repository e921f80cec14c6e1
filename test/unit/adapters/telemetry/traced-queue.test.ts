import { describe, expect, it } from 'vitest';
import { TracedQueue } from '../../../../src/adapters/telemetry/traced-queue.js';
import { W3cTracer } from '../../../../src/adapters/telemetry/w3c-tracer.js';
import { type PublishOutcome, type Queue, type QueueMessage } from '../../../../src/ports/queue.js';
import { type SpanFacts, type SpanTimes } from '../../../../src/ports/tracer.js';
import { buildMessage } from '../../../support/builders.js';
import { FakeClock } from '../../../support/fake-clock.js';

class RecordingTracer extends W3cTracer {
  readonly spans: (SpanFacts & { readonly context: string })[] = [];

  override record(context?: string, _times?: () => SpanTimes, describe?: () => SpanFacts): void {
    if (context !== undefined && describe !== undefined) this.spans.push({ context, ...describe() });
  }
}

function open(outcome: PublishOutcome) {
  const sent: QueueMessage[] = [];
  const publish = async (messages: readonly QueueMessage[]) => {
    sent.push(...messages);
    return messages.map(() => outcome);
  };
  const tracer = new RecordingTracer();
  const queue = new TracedQueue({ publish } as unknown as Queue, { tracer, clock: new FakeClock() });
  return { queue, sent, tracer };
}

describe('TracedQueue', () => {
  it('sends the context of its span along, below that of the trigger', async () => {
    const { queue, sent, tracer } = open('added');
    const message = buildMessage();
    await queue.publish([message]);
    expect(tracer.spans).toHaveLength(1);
    expect(tracer.spans[0]).toMatchObject({
      ...{ context: sent[0]?.traceparent, parent: message.event.traceparent, links: [] },
      attributes: { 'messaging.message.id': message.event.id },
    });
    expect(sent[0]?.traceparent).not.toBe(message.event.traceparent);
  });

  it('links a republished message to its first publishing, which another process may have told of', async () => {
    const [first, later] = [open('added'), open('added')];
    const message = buildMessage();
    await first.queue.publish([message]);
    await later.queue.publish([{ ...message, isRepublished: true }]);
    const [again] = later.tracer.spans;
    expect(again?.links).toEqual([first.sent[0]?.traceparent]);
    expect(again?.context).not.toBe(first.sent[0]?.traceparent);
    expect(again).toMatchObject({ attributes: { 'ax.republished': true } });
  });

  it('tells of a refused duplicate as an error, and nothing of what the queue had already', async () => {
    const [refused, known] = [open('duplicate'), open('known')];
    await refused.queue.publish([buildMessage()]);
    await known.queue.publish([buildMessage()]);
    expect(refused.tracer.spans[0]?.error).toEqual({ type: 'duplicate', message: null });
    expect(known.tracer.spans).toEqual([]);
  });
});
