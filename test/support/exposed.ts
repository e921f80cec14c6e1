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

/** All series of one name: their labels and values. */
export function samplesIn(
  text: string,
  name: string,
): { readonly labels: Readonly<Record<string, string>>; readonly value: number }[] {
  return text.split('\n').flatMap((line) => {
    const [, inner = '', value] = new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`).exec(line) ?? [];
    if (value === undefined) return [];
    const pairs = [...inner.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text]);
    return [{ labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }];
  });
}
