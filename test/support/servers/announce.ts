/** One line for whoever watches the tests; on the standard error, so that reports on the standard output stay whole. */
export function announce(text: string): void {
  process.stderr.write(`test servers: ${text}\n`);
}
