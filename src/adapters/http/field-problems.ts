import { closestMatch } from 'leven';
import { z } from 'zod';
import { type FieldProblem, InvalidInput } from '../../domain/errors.js';

/** More problems than this help nobody, and an answer stays small whatever was sent. */
const MAX_PROBLEMS = 100;

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
};

/** An object that refuses unknown names; the message of that issue lists the known ones, for a suggestion. */
export const strict = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? Object.keys(shape).join(' ') : undefined),
  });

/** Why a value is not taken, without the name of its field. */
export class Refusal {
  constructor(
    readonly problem: string,
    readonly fix: string,
  ) {}
}

/** A value that `read` turns into another one, or refuses. */
export const readWith = <T>(read: (value: unknown) => T | Refusal) =>
  z.unknown().transform((input, context): T => {
    const result = read(input);
    if (!(result instanceof Refusal)) return result;
    context.issues.push({ code: 'custom', message: result.problem, params: { fix: result.fix }, input });
    return z.NEVER;
  });

/** The value that `schema` makes of `input`. @throws InvalidInput with every problem. */
export function checked<T>(schema: z.ZodType<T>, input: unknown): T {
  const { value, problems } = check(schema, input);
  if (problems.length > 0) throw new InvalidInput(problems);
  return value as T;
}

/** The value that `schema` makes of `input`, or all its problems; `value` is undefined if there are any. */
export function check<T>(
  schema: z.ZodType<T>,
  input: unknown,
): { readonly value: T | undefined; readonly problems: FieldProblem[] } {
  const result = schema.safeParse(input);
  if (result.success) return { value: result.data, problems: [] };
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue, input));
  return { value: undefined, problems: problems.slice(0, MAX_PROBLEMS) };
}

function problemsOf(issue: z.core.$ZodIssue, input: unknown): FieldProblem[] {
  const field = fieldOf(issue.path);
  const value = issue.path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)[key], input);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys
        .slice(0, MAX_PROBLEMS)
        .map((key) => unknownField(fieldOf([...issue.path, key]), key, issue.message.split(' ')));
    case 'invalid_type': {
      if (issue.expected === 'never') return [{ field, problem: 'is set by ax', fix: 'leave it out' }];
      const fix = `give ${EXPECTED[issue.expected] ?? issue.expected}`;
      return [{ field, problem: nameOf(value), fix }];
    }
    case 'invalid_value':
      return [notAmong(field, value, issue.values)];
    case 'invalid_union':
      return [notAmong(field, value, 'options' in issue ? issue.options : [])];
    case 'custom': {
      const fix = String(issue.params?.['fix'] ?? 'correct it');
      return [{ field, problem: issue.message, fix }];
    }
    default:
      return [{ field, problem: issue.message, fix: 'correct it' }];
  }
}

function unknownField(field: string, key: string, known: readonly string[]): FieldProblem {
  const close = suggestion(key, known);
  const fix = close === undefined ? 'leave it out' : `did you mean "${close}"?`;
  return { field, problem: 'is not a known field', fix };
}

function suggestion(key: string, known: readonly string[]): string | undefined {
  if (key.length > 64) return undefined;
  const name = key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/-/g, '_')
    .toLowerCase();
  const longer = known.find((other) => other.startsWith(`${name}_`));
  const close = closestMatch(name, known, { maxDistance: Math.max(2, Math.floor(name.length / 3)) });
  const isLikely = name.length > 5 || close?.[0] === name[0];
  return longer ?? (isLikely ? close : undefined);
}

const notAmong = (field: string, value: unknown, possible: readonly unknown[]): FieldProblem => ({
  field,
  problem:
    typeof value === 'string' ? `${JSON.stringify(value.slice(0, 64))} is not possible` : nameOf(value),
  fix: `use ${possible.length > 1 ? 'one of ' : ''}${possible.map((v) => JSON.stringify(v)).join(', ')}`,
});

/** What a value is, as a predicate. */
function nameOf(value: unknown): string {
  if (value === undefined) return 'is missing';
  if (value === null) return 'is null';
  if (Array.isArray(value)) return 'is a list';
  if (value === Infinity || value === -Infinity) return 'is too large a number';
  return typeof value === 'object' ? 'is an object' : `is a ${typeof value}`;
}

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.length === 0 ? 'body' : path.map((key) => String(key).slice(0, 64)).join('.');
