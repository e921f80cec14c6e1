import { type Evidence } from './execution.js';

const MAX_TEXT = 4096;

/**
 * Evidence with the last 4096 characters of each text. A whole one, with output of 64 KiB, travels and is stored once for each execution,
 * with the attempt that ended it.
 */
export const briefEvidence = (evidence: Evidence): Evidence =>
  Object.fromEntries(
    Object.entries(evidence).map(([name, value]) => [name, typeof value === 'string' ? endOf(value) : value]),
  );

/** Without half a character at its beginning. */
const endOf = (text: string): string =>
  text.length <= MAX_TEXT ? text : text.slice(-MAX_TEXT).replace(/^[\uDC00-\uDFFF]/, '');
