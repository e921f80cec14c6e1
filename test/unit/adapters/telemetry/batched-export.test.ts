import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BatchedExport, type BatchExporter } from '../../../../src/adapters/telemetry/batched-export.js';
import { RecordingLogger } from '../../../support/recording.js';

type Done = Parameters<BatchExporter<string[]>['export']>[1];

/** A batch of the contexts of its spans. */
class Names {
  private names: string[] = [];

  add(name: string): void {
    this.names.push(name);
  }

  take(): string[] {
    const { names } = this;
    this.names = [];
    return names;
  }
}

function open(limits: { maxQueueSize?: number; maxBatchSize?: number } = {}) {
  const exported: string[][] = [];
  const pending: Done[] = [];
  const shutdown = vi.fn(async () => undefined);
  const logger = new RecordingLogger();
  const exporter = {
    export: (names: string[], done: Done) => {
      exported.push(names);
      pending.push(done);
    },
    shutdown,
  };
  const spans = new BatchedExport(
    new Names(),
    exporter,
    { maxQueueSize: 100, maxBatchSize: 3, delayMs: 5000, ...limits },
    logger,
  );
  const add = (...names: string[]) => {
    for (const name of names)
      spans.add(name, { startedAt: 0, endedAt: 1 }, { name, kind: 'internal', parent: null, attributes: {} });
  };
  /** The collector answers the batch that is on its way. */
  const answer = (error?: Error) => pending.shift()?.(error === undefined ? { code: 0 } : { code: 1, error });
  return { spans, add, answer, exported, shutdown, logger };
}

describe('BatchedExport', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('exports a full batch at once and one that is not full after the delay', () => {
    const { add, exported, answer } = open();
    add('a', 'b');
    expect(exported).toEqual([]);
    add('c', 'd');
    expect(exported).toEqual([['a', 'b', 'c']]);
    answer();
    vi.advanceTimersByTime(4999);
    expect(exported).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(exported).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('begins the delay with the first span of a batch', () => {
    const { add, exported } = open();
    add('a', 'b', 'c');
    vi.advanceTimersByTime(4000);
    add('d');
    vi.advanceTimersByTime(4999);
    expect(exported).toHaveLength(1);
  });

  it('has one batch on its way at a time', () => {
    const { add, exported, answer } = open();
    add('a', 'b', 'c', 'd', 'e', 'f', 'g');
    vi.advanceTimersByTime(5000);
    expect(exported).toEqual([['a', 'b', 'c']]);
    answer();
    expect(exported).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ]);
    answer(new Error('gone'));
    expect(exported.at(-1)).toEqual(['g']);
  });

  it('drops what it may not hold, those on their way included, and says so once', () => {
    const { add, exported, answer, logger } = open({ maxQueueSize: 5 });
    add('a', 'b', 'c', 'd', 'e', 'f', 'g');
    expect(logger.lines).toEqual([
      ['warn', { error: 'full', code: undefined }, 'traces not exported, these are lost'],
    ]);
    answer();
    expect(logger.lines.slice(1)).toEqual([['info', { lost_spans: 2 }, 'traces are exported again']]);
    add('h', 'i');
    expect(exported).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e', 'h'],
    ]);
  });

  it('does not say that all is well again while there is more than the collector takes', () => {
    const { add, answer, logger } = open({ maxQueueSize: 6 });
    add('a', 'b', 'c', 'd', 'e', 'f', 'lost');
    answer();
    expect(logger.lines).toHaveLength(1);
    answer();
    expect(logger.lines).toHaveLength(2);
  });

  it('fills no batch beyond what it may hold', () => {
    const { add, exported } = open({ maxQueueSize: 2 });
    add('a', 'b');
    expect(exported).toEqual([['a', 'b']]);
  });

  it('tells once that a collector is away and once that it is back, with the code and without the message', () => {
    const { add, answer, logger } = open({ maxBatchSize: 1 });
    const refused = Object.assign(new Error('http://me:hush@there'), { code: 503 });
    for (const name of ['a', 'b', 'c']) {
      add(name);
      answer(name === 'c' ? undefined : refused);
    }
    expect(logger.lines).toEqual([
      ['warn', { error: 'Error', code: 503 }, 'traces not exported, these are lost'],
      ['info', { lost_spans: 2 }, 'traces are exported again'],
    ]);
  });

  it('exports the rest when it closes, waits for it, and takes nothing more', async () => {
    const { spans, add, answer, exported, shutdown } = open();
    add('a', 'b', 'c', 'd');
    const closed = spans.close();
    add('late');
    answer();
    expect(shutdown).not.toHaveBeenCalled();
    answer();
    await closed;
    expect(exported).toEqual([['a', 'b', 'c'], ['d']]);
    expect(shutdown).toHaveBeenCalledOnce();
  });

  it('closes at once when there is nothing', async () => {
    const { spans, exported, shutdown } = open();
    await spans.close();
    expect(exported).toEqual([]);
    expect(shutdown).toHaveBeenCalledOnce();
  });
});
