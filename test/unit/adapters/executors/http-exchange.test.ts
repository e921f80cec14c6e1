import { describe, expect, it, vi } from 'vitest';
import { EgressRules } from '../../../../src/adapters/executors/egress-rules.js';
import { HttpExchange } from '../../../../src/adapters/executors/http-exchange.js';
import { Callee } from '../../../support/callee.js';

type Connect = (options: object, callback: (error: Error | null) => void) => void;

/** An undici that, as the real one may, connects again by itself after its first connection was lost. */
vi.mock('undici', async (original) => ({
  ...(await original<object>()),
  Client: class {
    constructor(
      private readonly origin: string,
      private readonly options: { readonly connect: Connect },
    ) {}
    dispatch(): void {
      const { hostname, protocol, port } = new URL(this.origin);
      const target = { hostname, protocol, port };
      this.options.connect(target, () => this.options.connect(target, () => {}));
    }
    destroy = async () => {};
  },
}));

describe('HttpExchange', () => {
  it('opens one connection and no second, whatever undici tries', async () => {
    const callee = await Callee.start();
    const exchange = new HttpExchange(new EgressRules());
    exchange.send({ origin: callee.origin, path: '/', method: 'POST', headers: {}, body: '{}' });
    expect(await exchange.ended).toMatchObject({ kind: 'broken' });
    expect(callee.connections).toBe(1);
    await callee.close();
  });
});
