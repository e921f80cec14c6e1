/** What a process exposes at `/metrics`, without the label of its namespace, which is the same on every line. */
export async function exposedBy(
  process: { address(): string | null },
  init: RequestInit = {},
): Promise<string> {
  const text = await (await fetch(`${process.address()}/metrics`, init)).text();
  return text
    .replaceAll(/,ax_namespace="[^"]*"|ax_namespace="[^"]*",/g, '')
    .replaceAll(/\{ax_namespace="[^"]*"\}/g, '');
}

/** The value of one series, given as `name` or `name{label="value"}`; null when it is not there. */
export function valueIn(text: string, series: string): number | null {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1).split(' ')[0]);
}
