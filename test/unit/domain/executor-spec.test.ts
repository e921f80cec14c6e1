import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { executorProblems } from '../../../src/domain/executor-spec.js';
import { type HttpExecutorSpec } from '../../../src/domain/executors/http-spec.js';

const spec = (overrides: Partial<HttpExecutorSpec> = {}): HttpExecutorSpec => ({
  type: 'http',
  url: 'https://orders.example/jobs/sync?full=1#part',
  method: 'POST',
  headers: {},
  ack: 'response',
  signature: null,
  ...overrides,
});
const problemsOf = (overrides: Partial<HttpExecutorSpec>) =>
  executorProblems(spec(overrides)).map(({ field, problem }) => `${field} ${problem}`);

describe('the URL of an http executor', () => {
  it.each(['http://127.0.0.1:9/', 'http://[::1]:8080/x', 'https://orders', 'HTTP://ORDERS/%20?a=b&c=%0a'])(
    '%s is taken',
    (url) => {
      expect(problemsOf({ url })).toEqual([]);
    },
  );

  it.each([
    ['', 'is not an absolute URL'],
    ['/jobs', 'is not an absolute URL'],
    ['orders:8080/jobs', '"orders:" is not supported'],
    ['http://', 'is not an absolute URL'],
    ['ftp://orders/', '"ftp:" is not supported'],
    ['file:///etc/passwd', '"file:" is not supported'],
    ['javascript:alert(1)', '"javascript:" is not supported'],
    ['http://ann:secret@orders/', 'carries credentials'],
    ['http://ann@orders/', 'carries credentials'],
    ['http://:secret@orders/', 'carries credentials'],
    [' http://orders/', 'has white space or control characters'],
    ['http://or\nders/', 'has white space or control characters'],
    ['http://orders/a b', 'has white space or control characters'],
    [`http://orders/${'x'.repeat(2048)}`, 'is too long'],
  ])('%j: %s', (url, problem) => {
    expect(problemsOf({ url })).toEqual([`executor.url ${problem}`]);
  });

  it('every problem of it is named', () => {
    expect(problemsOf({ url: `ftp://ann:secret@orders/${'x'.repeat(2048)} ` })).toEqual([
      'executor.url is too long',
      'executor.url has white space or control characters',
      'executor.url "ftp:" is not supported',
      'executor.url carries credentials',
    ]);
  });
});

describe('the headers of an http executor', () => {
  const broken = 'has a line break, a control character or one that headers cannot carry';

  it.each(['a\r\nX-Evil: 1', 'a\nb', 'a\r', 'a\u0000', 'a\u007f', '任务', 'x'.repeat(4097)])(
    'value %j is refused',
    (value) => {
      expect(problemsOf({ headers: { 'X-A': value } })).toEqual([`executor.headers.X-A ${broken}`]);
    },
  );

  it.each(['', 'plain', 'a\tb', 'Zoë', 'Bearer abc.def==', 'x'.repeat(4096)])(
    'value %j is taken',
    (value) => {
      expect(problemsOf({ headers: { Authorization: value } })).toEqual([]);
    },
  );

  it.each(['', 'X A', 'X-A:', 'X\nA', 'Ä', 'x'.repeat(129)])('name %j is refused', (name) => {
    expect(problemsOf({ headers: { [name]: 'v' } })).toEqual([
      `executor.headers.${name} is not a header name`,
    ]);
  });

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Idempotency-Key',
    'TraceParent',
    'X-Ax-Task',
    'x-ax-',
  ])('%s is set by ax', (name) => {
    expect(problemsOf({ headers: { [name]: 'v' } })).toEqual([`executor.headers.${name} is set by ax`]);
  });

  it('are 50 at most, and bad ones among too many are named as well', () => {
    const headers = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`X-${i}`, 'v']));
    expect(problemsOf({ headers })).toEqual([]);
    expect(problemsOf({ headers: { ...headers, 'X A': 'v' } })).toEqual([
      'executor.headers has 51 headers',
      'executor.headers.X A is not a header name',
    ]);
  });

  it('what is taken can be put on the wire', () => {
    const character = fc.integer({ min: 0, max: 0x110 }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(character, character, (inName, inValue) => {
        const [name, value] = [`X-${inName}`, `a${inValue}b`];
        const isTaken = problemsOf({ headers: { [name]: value } }).length === 0;
        if (isTaken) expect(() => new Headers({ [name]: value })).not.toThrow();
      }),
      { numRuns: 1000 },
    );
  });
});
