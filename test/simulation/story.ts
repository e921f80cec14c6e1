import { BASE } from '../support/builders.js';
import { type Violation } from './check-slots.js';
import { type Fact } from './journal.js';
import { type Result } from './simulation.js';
import { type StoredEvent } from './watched-store.js';

/** What happened, in order of time, as lines: all of it, or what concerns the events near one violation. */
export function storyOf({ facts, events }: Result, about: Violation | null = null): string[] {
  const concerned = about === null ? null : concernedBy(about, events);
  const lines = [
    ...facts
      .filter((fact) => concerned === null || !('executionId' in fact) || concerned.has(fact.executionId))
      .map((fact) => ({ at: fact.at, text: lineOf(fact) })),
    ...events
      .filter(({ id }) => concerned?.has(id) ?? true)
      .map((event) => ({ at: event.recordedAt, text: eventLine(event) })),
  ];
  return lines.sort((a, b) => a.at - b.at).map(({ at, text }) => `${elapsed(at)} ${text}`);
}

/** The event itself, and its neighbours of the same task. */
function concernedBy({ executionId, taskId, at }: Violation, events: readonly StoredEvent[]): Set<string> {
  const own = events.filter((event) => event.taskId === taskId);
  const near = own.filter(({ recordedAt }) => Math.abs(recordedAt - at) < 90_000).slice(-12);
  return new Set([
    executionId,
    ...(executionId === '' ? near.map(({ id }) => id) : near.slice(-4).map(({ id }) => id)),
  ]);
}

function lineOf(fact: Fact): string {
  switch (fact.kind) {
    case 'step':
      return `* ${fact.text}`;
    case 'call':
      return `${fact.node} calls the target of ${fact.executionId}, attempt ${fact.attempt}, generation ${fact.generation}`;
    case 'answer':
      return `${fact.node} would hear of ${fact.executionId}, attempt ${fact.attempt}: ${fact.text}`;
    case 'receipt':
      return `the target sends the receipt ${fact.says} of ${fact.executionId}, attempt ${fact.attempt}: ${fact.text}`;
    case 'cancel':
    case 'told_end':
      return `cancel of ${fact.executionId}: ${fact.text}`;
    case 'loss':
      return `! the queue ${fact.text}`;
    case 'claim':
    case 'wait':
    case 'finish':
    case 'abandon':
    case 'handBack':
    case 'lost':
      return `${fact.node} ${fact.kind} ${fact.executionId}, generation ${fact.generation}: ${fact.text}`;
    case 'violation':
      return `! ${fact.rule}: ${fact.executionId} ${fact.text}`;
  }
}

function eventLine(event: StoredEvent): string {
  const { id, node, taskId, kind, slot, rangeEnd, status, reason } = event;
  const slots = rangeEnd === null ? elapsed(slot) : `${elapsed(slot)} to ${elapsed(rangeEnd)}`;
  const flag = event.isMisfire ? ', misfire' : '';
  return `${node} records ${id}: ${taskId} ${kind} ${slots}${flag} (in the end ${status}${reason === null ? '' : ` ${reason}`})`;
}

/** Since the start, as minutes:seconds. */
const elapsed = (at: number): string => {
  const ms = at - BASE;
  const minutes = Math.floor(ms / 60_000);
  return `${String(minutes).padStart(2, '0')}:${((ms % 60_000) / 1000).toFixed(3).padStart(6, '0')}`;
};
