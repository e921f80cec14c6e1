import type { RunningServer, ServerKind, Way } from '../../support/servers/server-kind.js';

export interface FakeKindOptions {
  /** URLs that answer. */
  readonly answering?: readonly string[];
  readonly title?: string;
  readonly provides?: ServerKind['provides'];
}

/** A kind whose servers exist only in the test's head; its program is called like the title in lower case, plus `d`. */
export function fakeKind({
  answering = [],
  title = 'MySQL',
  provides = 'mysqlUrl',
}: FakeKindOptions = {}): ServerKind {
  const name = title.toLowerCase();
  return {
    title,
    provides,
    variable: `AX_TEST_${title.toUpperCase()}_URL`,
    url: ({ host, port }, password) => `${name}://${password}@${host}:${port}`,
    async logIn(url) {
      if (!answering.includes(url)) throw new Error(`connect ECONNREFUSED ${url}`);
      return '1.2.3';
    },
    container: { image: `${name}:1`, port: 1000, environment: () => ({}), command: () => [] },
    programs: `${name}d`,
    recipe(find) {
      const program = find(`${name}d`);
      return program ? { users: ['nobody'], files: () => ({}), commands: () => [[program]] } : undefined;
    },
    debianPackage: `${name}-server`,
  };
}

export interface FakeWay extends Way {
  /** `prepare TITLES`, `start TITLE` and `stop TITLE`, in the order they happened. */
  readonly calls: string[];
}

/** A way that provides what `outcome` answers: a URL, or an error. */
export function fakeWay(title: string, outcome: (kind: ServerKind) => string | Error): FakeWay {
  const calls: string[] = [];
  return {
    title,
    calls,
    async prepare(kinds) {
      calls.push(`prepare ${kinds.map((kind) => kind.title).join(' ')}`);
    },
    async start(kind): Promise<RunningServer> {
      calls.push(`start ${kind.title}`);
      const url = outcome(kind);
      if (url instanceof Error) throw url;
      return { url, origin: title, stop: async () => void calls.push(`stop ${kind.title}`) };
    },
  };
}
