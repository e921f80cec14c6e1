/** Loops of one node, from start to stop. */
export class RunningLoops {
  private running: { readonly stop: AbortController; readonly ended: Promise<void> }[] = [];

  start(loop: { run(stop: AbortSignal): Promise<void> }): void {
    const stop = new AbortController();
    this.running.push({ stop, ended: loop.run(stop.signal) });
  }

  /** Ends them in the order in which they were started, each after the one before. */
  async stop(): Promise<void> {
    for (const { stop, ended } of this.running) {
      stop.abort();
      await ended;
    }
    this.running = [];
  }

  /** Forgets them: nobody waits for what belongs to a dead node. */
  abandon(): void {
    this.running = [];
  }
}
