import { describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../../../src/adapters/telemetry/without-secrets.js';

describe('withoutSecrets', () => {
  it.each([
    ['no address', 'no address'],
    ['https://there/path#part', 'https://there/path#part'],
    [
      'see https://me:hush@there/x?key=hush&more=hush#part.',
      'see https://REDACTED:REDACTED@there/x?REDACTED#part.',
    ],
    ['amqp://hush@there, "http://there?hush"', 'amqp://REDACTED:REDACTED@there, "http://there?REDACTED"'],
    ['HTTP://me:hush@there', 'HTTP://REDACTED:REDACTED@there'],
    ['x.http://me:hush@there/?', 'x.http://REDACTED:REDACTED@there/?REDACTED'],
    ['http://a?hush http://b http://c?hush', 'http://a?REDACTED http://b http://c?REDACTED'],
    ['why? because', 'why? because'],
  ])('%s', (text, expected) => {
    expect(withoutSecrets(text)).toBe(expected);
  });

  /** What a target answers reaches log lines: minutes of a text that was made for it would stop the process. */
  it.each(['x', 'a:', '://', '://a', '://a@', 'http://a/'])('does not dwell on a million of %j', (part) => {
    expect(withoutSecrets(part.repeat(1_000_000))).not.toBe('');
  });
});
