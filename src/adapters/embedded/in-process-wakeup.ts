import { type Wakeup } from '../../ports/wakeup.js';

/** Wake-ups inside one process; those who share them share the instance. */
export class InProcessWakeup implements Wakeup {
  private readonly listeners = new Set<{ readonly wake: () => void }>();

  async notify(): Promise<void> {
    for (const { wake } of [...this.listeners]) wake();
  }

  subscribe(listener: () => void): () => void {
    const entry = { wake: listener };
    this.listeners.add(entry);
    return () => void this.listeners.delete(entry);
  }
}
