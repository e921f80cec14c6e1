import { type StopRequest } from '../../ports/stops.js';

type Listener = (executionId: string, reason: StopRequest) => void;

/** Who was asked to stop and why, and who wants to know. */
export class InProcessStopBook {
  private readonly reasons = new Map<string, StopRequest>();
  private readonly listeners = new Set<{ readonly tell: Listener }>();

  /** The first reason is kept. Listeners hear of it when the call that asks is over. */
  ask(executionId: string, reason: StopRequest): void {
    const kept = this.of(executionId) ?? reason;
    this.reasons.set(executionId, kept);
    queueMicrotask(() => {
      for (const { tell } of [...this.listeners]) tell(executionId, kept);
    });
  }

  of(executionId: string): StopRequest | null {
    return this.reasons.get(executionId) ?? null;
  }

  forget(executionId: string): void {
    this.reasons.delete(executionId);
  }

  listen(listener: Listener): () => void {
    const entry = { tell: listener };
    this.listeners.add(entry);
    return () => void this.listeners.delete(entry);
  }
}
