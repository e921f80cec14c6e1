import { type z } from 'zod';
import { type Actor } from '../../application/actor.js';
import { checked } from './field-problems.js';

/** What a handler sees of a request. */
export interface ApiRequest<Query = unknown> {
  /** The `{id}` of the path, decoded; empty on paths without one. */
  readonly id: string;
  readonly query: Query;
  /** The JSON of the body; undefined if there is none, or if it is `text`. */
  readonly body: unknown;
  /** A body of the type that the route takes beside JSON; null if it is of another one. */
  readonly text: string | null;
  /** Absent on routes that need no token. */
  readonly actor: Actor;
  header(name: string): string | undefined;
}

/** What a handler answers: `json`, or `text` whose Content-Type is among the headers, or nothing. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
}

/** One method of one path (express notation, below its router). Handlers throw; one place turns that into problem documents. */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
  /** A type of body that is taken as text, beside JSON. */
  readonly textType?: string;
  handle(request: ApiRequest): Promise<Reply>;
}

/** A route whose query string is checked against `query` first. */
export const route = <Query>(spec: {
  readonly method: Route['method'];
  readonly path: string;
  readonly query: z.ZodType<Query>;
  readonly textType?: string;
  readonly handle: (request: ApiRequest<Query>) => Promise<Reply>;
}): Route => ({
  ...spec,
  handle: async (request) => spec.handle({ ...request, query: checked(spec.query, request.query) }),
});
