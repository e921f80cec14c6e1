import { type ClaimAnswer, type ClaimTerms, DEFAULT_MAX_WAITING } from '../../src/ports/claims.js';
import { type QueueMessage } from '../../src/ports/queue.js';
import { BASE } from '../support/builders.js';
import { type RunBook, type Watched } from './run-book.js';

interface Asked {
  readonly worker: string;
  /** The latest claim in the book. */
  readonly before: Watched | undefined;
  readonly answer: ClaimAnswer;
  readonly terms: ClaimTerms | undefined;
}

/** What the book, as it is before it, has to say against the answer to a claim; `text` describes it. */
export function claimProblems(
  book: RunBook,
  { event, task }: QueueMessage,
  { worker, before, answer, terms = {} }: Asked,
): { readonly problems: readonly (readonly [rule: string, text: string])[]; readonly text: string } {
  const { id, taskId, slot } = event;
  const { maxConcurrent: limit, overlapPolicy } = task.policy;
  const marks = book.marksOf(taskId, id);
  const others = marks.length;
  const ahead = book.countAhead(taskId, { id, slot });
  const room = `${others} others of ${limit} run, ${ahead} wait before it`;
  const of = before === undefined ? '' : ` after generation ${before.generation} of ${before.worker}`;
  const problems: [rule: string, text: string][] = [];
  const check = (isGood: boolean, rule: string, text: string) => {
    if (!isGood) problems.push([rule, text]);
  };
  check(
    before?.state !== 'finished' && !book.isLive(id),
    'two_claims',
    `${worker} got a claim that ${before?.worker} holds, or of a run that has ended`,
  );
  // A place that is kept while a receipt is awaited or over a hand-over is no new one, also where a loss has let one too many in.
  const isKept = book.hasPlace(id);
  const hasRoom = isKept || others + ahead < limit;
  const isInLine = book.line(taskId).some((waiter) => waiter.id === id);
  const isFull = book.line(taskId).length >= (terms.maxWaiting ?? DEFAULT_MAX_WAITING);
  // Fired within the length of a window, and nothing in its way but what ax began late.
  const isBunched =
    BASE + book.nowMs() <= event.firedAt + event.windowEnd - event.windowStart &&
    book.takenBefore(marks, event.windowStart).length < limit;
  const mayNotWait = {
    skip: !isInLine && (isFull || !isBunched),
    queue: !isInLine && before === undefined && isFull,
    replace: book.neighbours(taskId, id).newer.length >= limit,
  };
  if (answer.outcome === 'waiting') {
    check(
      !hasRoom && !mayNotWait[overlapPolicy],
      'false_overlap',
      `waits under ${overlapPolicy} while ${room}`,
    );
    check(!book.stops.has(id), 'stop', 'waits, and was asked to stop');
    return { problems, text: `${room}${of}` };
  }
  if (answer.outcome !== 'claimed') return { problems, text: '' };
  const { claim, isSaturated, stop } = answer;
  if (before !== undefined)
    check(
      claim.generation > before.generation,
      'generation',
      `generation ${claim.generation} after ${before.generation}`,
    );
  const asked = book.stops.get(id)?.reason ?? null;
  check(stop === asked, 'stop', `claimed with the stop ${stop}, not ${asked}`);
  if (stop === null && !isSaturated) {
    check(isKept || others < limit, 'max_concurrent', `claimed while ${room}`);
    check(hasRoom || others >= limit, 'overtaken', `claimed while ${room}`);
  }
  if (isSaturated)
    check(
      !hasRoom && mayNotWait[overlapPolicy],
      'false_overlap',
      `saturated under ${overlapPolicy} while ${room}`,
    );
  const what = isSaturated ? 'saturated, ' : stop === null ? '' : `${stop}, `;
  return { problems, text: `${what}${room}${of}` };
}
