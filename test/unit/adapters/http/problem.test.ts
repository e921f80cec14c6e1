import { describe, expect, it } from 'vitest';
import { HttpError, problemOf } from '../../../../src/adapters/http/problem.js';
import { AxError, type ErrorCode, InvalidInput } from '../../../../src/domain/errors.js';

describe('problem documents', () => {
  it.each<[ErrorCode, number]>([
    ['invalid_input', 400],
    ['not_found', 404],
    ['already_exists', 409],
    ['version_conflict', 409],
    ['conflict', 409],
    ['illegal_transition', 409],
    ['unavailable', 503],
    ['corrupt_row', 500],
    ['refused_start', 500],
  ])('%s becomes %i', (code, status) => {
    const problem = problemOf(new AxError(code, 'said'), false);
    expect(problem.status).toBe(status);
    expect(problem.document).toMatchObject({ status });
  });

  it('has the members of RFC 9457, a code, and every refused field', () => {
    const problems = [{ field: 'interval', problem: '0 is not possible', fix: 'give 1 or more' }];
    expect(problemOf(new InvalidInput(problems), false)).toEqual({
      status: 400,
      headers: {},
      document: {
        type: 'urn:ax:problem:invalid_input',
        title: 'The request was refused',
        status: 400,
        detail: 'interval: 0 is not possible; give 1 or more',
        code: 'invalid_input',
        errors: problems,
      },
    });
  });

  it('answers 412 if the request named its version in If-Match', () => {
    const { status, document } = problemOf(new AxError('version_conflict', 'at 4, not 3'), true);
    expect(status).toBe(412);
    expect(document).toMatchObject({ status: 412, errors: [{ field: 'If-Match', problem: 'at 4, not 3' }] });
  });

  it('asks to come back when a store is away', () => {
    expect(problemOf(new AxError('unavailable', 'x'), false).headers).toEqual({ 'Retry-After': '2' });
  });

  it.each([
    new Error('secret'),
    new AxError('corrupt_row', 'secret'),
    new AxError('unavailable', 'secret'),
    new AxError('conflict', 'secret', { cause: new Error('driver') }),
    new AxError('invalid_input', 'secret', { cause: new Error('driver') }),
    Object.assign(new Error('secret'), { status: 500 }),
    'secret',
    undefined,
    null,
  ])('says nothing of the inside: %s', (thrown) => {
    const { status, document } = problemOf(thrown, false);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(document)).not.toContain('secret');
  });

  it('knows what the framework refuses', () => {
    const refused = (facts: object) => problemOf(Object.assign(new Error('x'), facts), false).status;
    expect(refused({ status: 413, type: 'entity.too.large' })).toBe(413);
    expect(refused({ status: 415, type: 'encoding.unsupported' })).toBe(415);
    expect(refused({ status: 400 })).toBe(400);
  });

  it('keeps the headers of a refusal', () => {
    const error = new HttpError('method_not_allowed', [], { Allow: 'GET' });
    expect(problemOf(error, false)).toMatchObject({ status: 405, headers: { Allow: 'GET' } });
  });
});
