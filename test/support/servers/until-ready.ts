import { setTimeout as pause } from 'node:timers/promises';

export interface Waiting {
  readonly deadlineMs: number;
  /** Says why waiting is pointless, once it is. */
  readonly gaveUp?: () => string | undefined | Promise<string | undefined>;
  /** Appended to the error: what the server itself said. */
  readonly evidence?: () => Promise<string>;
}

/** Calls `logIn` until it succeeds and returns its answer; throws the last reason at the deadline. */
export async function untilReady<T>(logIn: () => Promise<T>, waiting: Waiting): Promise<T> {
  const deadline = Date.now() + waiting.deadlineMs;
  for (;;) {
    const reason = await logIn().then(
      (answer) => ({ answer }),
      (error: unknown) => String(error instanceof Error ? error.message || error.name : error),
    );
    if (typeof reason === 'object') return reason.answer;
    const end =
      (await waiting.gaveUp?.()) ??
      (Date.now() >= deadline ? `no login within its deadline: ${reason}` : undefined);
    if (end !== undefined) {
      const said = (await waiting.evidence?.())?.trim();
      throw new Error(said ? `${end}; its last words:\n${said.replace(/^/gm, '    | ')}` : end);
    }
    await pause(100);
  }
}
