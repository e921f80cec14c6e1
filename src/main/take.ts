import { type ResolutionContext, type ServiceIdentifier } from 'inversify';
import { TOKENS } from './tokens.js';

type Tokens = typeof TOKENS;
type Bound<Name extends keyof Tokens> = Tokens[Name] extends ServiceIdentifier<infer T> ? T : never;

/** What is bound, by the names of its tokens, so that a constructor's dependencies are named once. */
export const take = <const Name extends keyof Tokens>(
  context: ResolutionContext,
  ...names: readonly Name[]
): { readonly [N in Name]: Bound<N> } =>
  Object.fromEntries(names.map((name) => [name, context.get<unknown>(TOKENS[name])])) as {
    readonly [N in Name]: Bound<N>;
  };
