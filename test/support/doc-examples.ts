import { readFileSync } from 'node:fs';

/** A request that a `curl` command of a page makes. */
export interface DocExample {
  readonly line: number;
  readonly method: string;
  /** Below the address, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of `-d`; null if there is none. */
  readonly data: string | null;
  /** Of `--data-binary @…`; null if there is none. */
  readonly file: string | null;
}

const WORD = /'([^']*)'|"((?:[^"\\]|\\.)*)"|(\\\n)|([^\s'"\\]+)/g;

/** The commands in the `sh` blocks of a page that call the API by curl; throws on what is written in another way than the others. */
export function docExamples(page: string): DocExample[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(({ 1: block = '', index }) => {
    const before = text.slice(0, index).split('\n').length;
    return [...block.matchAll(/^curl (.*?)(?=^curl |$(?![\s\S]))/gms)].map(({ 1: command = '', index: at }) =>
      exampleOf(wordsOf(command), before + block.slice(0, at).split('\n').length),
    );
  });
}

const wordsOf = (command: string): string[] =>
  [...command.matchAll(WORD)].flatMap(([, plain, quoted, , bare]) => plain ?? quoted ?? bare ?? []);

function exampleOf(words: readonly string[], line: number): DocExample {
  const example = {
    line,
    method: 'GET',
    path: '',
    headers: {} as Record<string, string>,
    data: null,
    file: null,
  };
  const result: { -readonly [K in keyof DocExample]: DocExample[K] } = example;
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word.startsWith('$AX/')) {
      result.path = word.slice('$AX'.length);
      continue;
    }
    const value = rest.shift() ?? '';
    const [header = '', content = ''] = value.split(/: (.*)/s);
    if (word === '-X') result.method = value;
    else if (word === '-H') example.headers[header] = content;
    else if (word === '-d') result.data = value;
    else if (word === '--data-binary' && value.startsWith('@')) result.file = value.slice(1);
    else throw new Error(`line ${line}: the test does not know ${word}`);
  }
  if (result.path === '') throw new Error(`line ${line}: does not call $AX`);
  return result;
}
