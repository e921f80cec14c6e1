import {
  MAX_RECEIPTS,
  type Receipt,
  type ReceiptAnswer,
  type Receipts,
  type ReceiptWait,
} from '../../ports/receipts.js';
import { CLOSE, OPEN, POST } from './receipt-scripts.js';
import { type RedisConnection } from './redis-connection.js';

/** A hash and a stream per waiting execution, both with an end of life; receipts are announced by PUBLISH. */
export class RedisReceipts implements Receipts {
  private readonly listeners = new Set<{ readonly hear: (executionId: string) => void }>();
  private isListening = false;

  constructor(private readonly connection: RedisConnection) {}

  async open({ executionId, attempt, tokenHash, keepMs }: ReceiptWait): Promise<void> {
    await this.connection.evaluate(OPEN, this.keysOf(executionId), [attempt, tokenHash, Math.ceil(keepMs)]);
  }

  async read(executionIds: readonly string[]): Promise<Receipt[][]> {
    const { keys } = this.connection;
    const entries = await this.connection.run((client) =>
      Promise.all(executionIds.map((id) => client.xrange(keys.receiptsOf(id), '-', '+'))),
    );
    return entries.map((ofOne) => ofOne.map(receiptOf));
  }

  async close(executionId: string, keepMs: number): Promise<void> {
    await this.connection.evaluate(CLOSE, this.keysOf(executionId), [Math.ceil(keepMs)]);
  }

  async post(
    executionId: string,
    tokenHash: string,
    { kind, message }: Omit<Receipt, 'at'>,
  ): Promise<ReceiptAnswer> {
    const channel = this.connection.keys.receipts;
    const fields = ['kind', kind, ...(message === null ? [] : ['message', message])];
    const args = [tokenHash, kind, MAX_RECEIPTS, channel, executionId, ...fields];
    return (await this.connection.evaluate(POST, this.keysOf(executionId), args)) as ReceiptAnswer;
  }

  subscribe(listener: (executionId: string) => void): () => void {
    const entry = { hear: listener };
    this.listeners.add(entry);
    if (!this.isListening) this.connection.listen(this.connection.keys.receipts, (id) => this.tell(id));
    this.isListening = true;
    return () => void this.listeners.delete(entry);
  }

  private tell(executionId: string | null): void {
    if (executionId === null) return;
    for (const { hear } of [...this.listeners]) hear(executionId);
  }

  private keysOf(executionId: string): string[] {
    const { keys } = this.connection;
    return [keys.receiptWait(executionId), keys.receiptsOf(executionId)];
  }
}

/** An entry's id begins with the server's ms at its coming; its fields are flat pairs. */
function receiptOf([id, fields]: readonly [string, readonly string[]]): Receipt {
  const valueOf = (name: string) => {
    const at = fields.findIndex((field, i) => i % 2 === 0 && field === name);
    return at < 0 ? null : (fields[at + 1] ?? null);
  };
  return { kind: valueOf('kind') as Receipt['kind'], message: valueOf('message'), at: parseInt(id, 10) };
}
