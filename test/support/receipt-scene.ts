import { Sha256TokenHash } from '../../src/adapters/system/sha256-token-hash.js';
import { type HttpExecutorSpec } from '../../src/domain/executors/http-spec.js';
import { type Policy } from '../../src/domain/policy.js';
import { type QueueMessage } from '../../src/ports/queue.js';
import { type Receipt, type ReceiptAnswer } from '../../src/ports/receipts.js';
import { type RunScene } from './run-scene.js';

const RECEIPT: HttpExecutorSpec = {
  type: 'http',
  url: 'http://orders:8080/run',
  method: 'POST',
  headers: {},
  ack: 'receipt',
  signature: null,
};

/** Runs in a scene whose target takes every attempt over, and the receipts that it sends. */
export class ReceiptScene {
  readonly hash = new Sha256TokenHash();

  constructor(private readonly scene: RunScene) {
    scene.executor.script = () => ({ status: 'delivered', evidence: { http_status: 202 } });
  }

  async publish(policy: Partial<Policy> = {}): Promise<QueueMessage> {
    const [message] = await this.scene.publish({ timeoutSec: 3600, ...policy }, 1, 'task', RECEIPT);
    if (message === undefined) throw new Error('nothing published');
    return message;
  }

  /** The token that was sent with this call, counted from 0. */
  tokenOf(call: number): string {
    return this.scene.executor.calls[call]?.request.receipt?.token ?? '';
  }

  /** By default with the token of the first call. */
  post(
    { event }: QueueMessage,
    kind: Receipt['kind'],
    { token = this.tokenOf(0), message = null as string | null } = {},
  ): Promise<ReceiptAnswer> {
    const { receipts } = this.scene.harness.broker;
    return receipts.post(event.id, this.hash.of(token), { kind, message });
  }
}
