import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Guard {
  /** What the guard said so far, or undefined. */
  said(): string | undefined;
  /** Has the guard clean up and waits until it has. Idempotent. */
  end(): Promise<void>;
}

/**
 * Starts a guard: a process in a session of its own (so Ctrl-C does not reach it) that cleans up as soon as its standard
 * input closes. That happens in `end`, and also when this process dies in any way, so there is one path for every end.
 */
export function startGuard(script: string, argument: object): Guard {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL(script, import.meta.url)), JSON.stringify(argument)],
    { stdio: ['pipe', 'pipe', 'inherit'], detached: true, env: { ...process.env, NODE_OPTIONS: '' } },
  );
  let text: string | undefined;
  const gone = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      text = `the guard could not be started: ${error.message}`;
      resolve();
    });
    child.once('exit', () => resolve());
  });
  child.stdin.on('error', () => undefined);
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text = (text ?? '') + chunk));
  child.unref();
  return {
    said: () => text?.trim(),
    async end() {
      child.ref();
      child.stdin.end();
      await gone;
    },
  };
}
