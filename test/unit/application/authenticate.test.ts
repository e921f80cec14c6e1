import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sha256TokenHash } from '../../../src/adapters/system/sha256-token-hash.js';
import { Authenticate } from '../../../src/application/authenticate.js';
import { BASE } from '../../support/builders.js';
import { NodeHarness } from '../../support/node-harness.js';

describe('Authenticate', () => {
  let harness: NodeHarness;
  beforeEach(async () => {
    harness = await NodeHarness.open();
  });
  afterEach(() => harness.close());

  const start = (adminToken: string | null) => {
    const { tokens, audit, clock } = harness;
    return new Authenticate({ tokens, hash: new Sha256TokenHash(), audit, clock, adminToken });
  };
  const stored = () => harness.query<{ name: string; hash: string }>('SELECT name, hash FROM api_token');

  it('lets nobody in before there is a token', async () => {
    expect(await start(null).actorOf('')).toBeNull();
    expect(await start(null).actorOf('admin')).toBeNull();
  });

  it('makes an admin token once, and stores nothing but its hash', async () => {
    const authenticate = start(null);
    const token = await authenticate.prepare();
    expect(token).toMatch(/^[A-Za-z0-9_-]{32,}$/);
    expect(await authenticate.actorOf(token ?? '')).toBe('admin');
    expect(await authenticate.actorOf(`${token}x`)).toBeNull();
    expect(await stored()).toEqual([{ name: 'admin', hash: new Sha256TokenHash().of(token ?? '') }]);
    const tables = await harness.query<{ name: string }>(
      `SELECT name FROM sqlite_master WHERE type = 'table'`,
    );
    for (const { name } of tables) {
      expect(JSON.stringify(await harness.query(`SELECT * FROM ${name}`))).not.toContain(token);
    }
    expect(await harness.audit.list({ limit: 5 })).toEqual([
      { at: BASE, actor: 'ax', action: 'token.create', subject: 'admin', before: null, after: null },
    ]);

    expect(await start(null).prepare()).toBeNull();
    expect(await start(null).actorOf(token ?? '')).toBe('admin');
    expect(await harness.audit.list({ limit: 5 })).toHaveLength(1);
  });

  it('tells the token once when several nodes start at the same time', async () => {
    const told = await Promise.all([start(null), start(null), start(null)].map((node) => node.prepare()));
    expect(told.filter((token) => token !== null)).toHaveLength(1);
    expect(await start(null).actorOf(told.find((token) => token !== null) ?? '')).toBe('admin');
  });

  it('takes a configured token alone, and stores nothing of it', async () => {
    const generated = await start(null).prepare();
    const configured = start('a-configured-token');
    expect(await configured.prepare()).toBeNull();
    expect(await configured.actorOf('a-configured-token')).toBe('admin');
    expect(await configured.actorOf(generated ?? '')).toBeNull();
    expect(await configured.actorOf('')).toBeNull();
    expect(await stored()).toHaveLength(1);
  });
});
