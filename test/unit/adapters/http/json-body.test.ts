import { type Request } from 'express';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonBody } from '../../../../src/adapters/http/json-body.js';
import { HttpError } from '../../../../src/adapters/http/problem.js';

const request = (body: string | Buffer, contentType = 'application/json') =>
  ({ body: Buffer.from(body), get: () => contentType }) as unknown as Request;

const refusal = (body: string | Buffer, contentType?: string): HttpError => {
  try {
    jsonBody(request(body, contentType));
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  throw new Error('the body was taken');
};

describe('the JSON of a body', () => {
  it('is undefined without a body, whatever its Content-Type', () => {
    expect(jsonBody(request('', ''))).toBeUndefined();
    expect(jsonBody({ get: () => undefined } as unknown as Request)).toBeUndefined();
  });

  it('is what JSON.parse makes of any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        if (!text.includes('__proto__')) expect(jsonBody(request(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('takes equal names in different objects, and names inside of strings', () => {
    const value = { a: { a: 1, b: [{ a: '{"a":1,"a":2}' }, { a: 'x\\' }] }, b: '"a": {', '': '__proto__' };
    expect(jsonBody(request(JSON.stringify(value)))).toEqual(value);
  });

  it.each([
    ['{"enabled":true,"enabled":false}', 'enabled'],
    ['{"params":{"a":[{"x":1,"\\u0078":2}]}}', 'x'],
  ])('refuses %s, where JSON.parse would keep the last', (body, field) => {
    expect(refusal(body).errors).toEqual([
      { field, problem: 'is given twice in one object', fix: 'give it once' },
    ]);
  });

  it.each(['{"__proto__":{"x":1}}', '{"params":[{"__pr\\u006fto__":1}]}'])('refuses %s', (body) => {
    expect(refusal(body).errors[0]).toMatchObject({ field: '__proto__', fix: 'leave it out' });
  });

  it('says where broken JSON breaks, if that is known', () => {
    const error = refusal('{\n  "name": "x",\n}');
    expect(error.code).toBe('invalid_input');
    expect(error.errors[0]).toMatchObject({ field: 'body', fix: 'send one valid JSON object' });
    expect(error.errors[0]?.problem).toContain('line 3, column 1');
    expect(refusal('{"name":').errors[0]?.problem).toContain('is not JSON');
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(refusal(Buffer.from([0x22, 0xff, 0x22])).errors[0]).toMatchObject({ problem: 'is not UTF-8' });
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    '',
    'application/json; charset=latin1',
    'application/jsonp',
  ])('refuses the Content-Type "%s"', (contentType) => {
    expect(refusal('{}', contentType)).toMatchObject({
      code: 'unsupported_media_type',
      errors: [{ field: 'Content-Type', fix: 'send JSON in UTF-8 as "application/json"' }],
    });
  });

  it.each(['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"'])(
    'takes the Content-Type %s',
    (contentType) => {
      expect(jsonBody(request('{"a":1}', contentType))).toEqual({ a: 1 });
    },
  );

  it('checks a body of many names and levels without effort', () => {
    const nested = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
    const wide = `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":0`).join()}}`;
    expect(() => jsonBody(request(nested))).not.toThrow();
    expect(() => jsonBody(request(wide))).not.toThrow();
  });
});
