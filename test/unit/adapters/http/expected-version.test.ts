import { describe, expect, it } from 'vitest';
import { expectedVersion, versionTag } from '../../../../src/adapters/http/expected-version.js';

describe('If-Match', () => {
  it.each([
    [undefined, null],
    ['*', null],
    ['"3"', 3],
    ['3', 3],
    ['W/"3"', 3],
    [versionTag(12), 12],
  ])('%s expects version %s', (header, version) => {
    expect(expectedVersion(header)).toBe(version);
  });

  it.each(['', '"3', '3"', 'W/3', '"x"', '"3", "4"', '-1', '3.5', '"99999999999999999999"'])(
    'refuses %s',
    (header) => {
      expect(() => expectedVersion(header)).toThrow(
        expect.objectContaining({ problems: [expect.objectContaining({ field: 'If-Match' })] }),
      );
    },
  );
});
