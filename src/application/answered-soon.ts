import { type Clock } from '../ports/clock.js';

/** What is only shown beside something else is not waited for longer than this. */
const PATIENCE_MS = 500;

/** What was asked, or null if it failed or takes long. */
export async function answeredSoon<T>(asked: Promise<T>, clock: Pick<Clock, 'sleep'>): Promise<T | null> {
  const answered = new AbortController();
  const tooLate = clock.sleep(PATIENCE_MS, answered.signal).then(() => null);
  const answer = await Promise.race([asked.catch(() => null), tooLate]);
  answered.abort('answered');
  return answer;
}
