import { describe, expect, it } from 'vitest';
import { fromEnvironment } from '../../support/servers/from-environment.js';
import { fakeKind } from './fake-kind.js';

const kind = fakeKind({ answering: ['mysql://good'] });

describe('fromEnvironment', () => {
  it.each([undefined, ''])('finds nothing when the variable is %o', async (value) => {
    expect(await fromEnvironment(kind, { AX_TEST_MYSQL_URL: value })).toBeUndefined();
  });

  it('takes the URL as it is, once it has answered', async () => {
    const server = await fromEnvironment(kind, { AX_TEST_MYSQL_URL: 'mysql://good' });
    expect(server).toMatchObject({ url: 'mysql://good', origin: 'AX_TEST_MYSQL_URL, version 1.2.3' });
  });

  it('fails, naming the variable and the reason, when nothing answers there', async () => {
    await expect(fromEnvironment(kind, { AX_TEST_MYSQL_URL: 'mysql://bad' }, 0)).rejects.toThrow(
      /^AX_TEST_MYSQL_URL is set, but no MySQL answers there: .*ECONNREFUSED mysql:\/\/bad/,
    );
  });
});
