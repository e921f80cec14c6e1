import {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
  Router,
  raw,
} from 'express';
import { type Actor } from '../../application/actor.js';
import { AxError } from '../../domain/errors.js';
import { type Logger } from '../../ports/logger.js';
import { jsonBody, MAX_BODY_BYTES, textBody } from './json-body.js';
import { HttpError, problemOf } from './problem.js';
import { type ApiRequest, type Reply, type Route } from './route.js';

/** A router that serves `routes` below `prefix`, and answers other methods of their paths with 405. `first` runs before all. */
export function serveRoutes(prefix: string, routes: readonly Route[], first: RequestHandler[] = []): Router {
  const router = Router({ caseSensitive: true });
  if (first.length > 0) router.use(first);
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path);
    const pattern = `${prefix}${path.replace(/:(\w+)/g, '{$1}')}`;
    router.all(path, (_req, res, next) => {
      res.locals['route'] = pattern;
      next();
    });
    for (const route of here) router[route.method](path, ...bodyReader(route), answer(route));
    router.all(path, refuseMethod(here));
  }
  return router;
}

const readBytes = raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false });

const bodyReader = ({ method }: Route): RequestHandler[] =>
  method === 'post' || method === 'put' ? [readBytes] : [];

const answer =
  (route: Route): RequestHandler =>
  async (req, res) => {
    send(res, await route.handle(apiRequest(route, req, res)));
  };

function apiRequest({ textType }: Route, req: Request, res: Response): ApiRequest {
  const text = textType === undefined ? null : textBody(req, textType);
  return {
    id: String(req.params['id'] ?? ''),
    query: { ...req.query },
    body: text === null ? jsonBody(req, textType) : undefined,
    text,
    actor: res.locals['actor'] as Actor,
    header: (name) => req.get(name),
  };
}

function refuseMethod(routes: readonly Route[]): RequestHandler {
  const methods = routes.flatMap(({ method }) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  const allow = methods.join(', ');
  return (req) => {
    const errors = [{ field: 'method', problem: `${req.method} is not possible here`, fix: `use ${allow}` }];
    throw new HttpError('method_not_allowed', errors, { Allow: allow });
  };
}

/** The end of the line: no route has this path. */
export const refusePath: RequestHandler = () => {
  throw new HttpError('not_found', [
    { field: 'path', problem: 'leads nowhere', fix: 'see docs/api.md for the routes' },
  ]);
};

/** Turns whatever was thrown into a problem document. What is not the caller's fault, or says less than was known, is logged. */
export const answerError =
  (logger: Logger): ErrorRequestHandler =>
  (error: unknown, req, res, _next) => {
    const { status, headers, document } = problemOf(error, req.get('if-match') !== undefined);
    const facts = { method: req.method, route: routeOf(res), status };
    if (status >= 500) logger.error({ ...facts, err: error }, 'request failed');
    else if (error instanceof AxError && error.cause !== undefined)
      logger.warn({ ...facts, err: error }, 'request refused by the store');
    if (res.headersSent) {
      res.destroy();
      return;
    }
    send(res, {
      status,
      headers: { 'Content-Type': 'application/problem+json', ...headers },
      json: document,
    });
  };

/** The pattern of the route that took the request: a bounded set. */
export const routeOf = (res: Response): string => String(res.locals['route'] ?? 'unmatched');

/** Not `res.send`, which would answer 304 by ETag: a task's next trigger time changes while its version stays. */
function send(res: Response, { status, headers = {}, json, text }: Reply): void {
  const body = json === undefined ? text : JSON.stringify(json);
  res.writeHead(status, {
    ...(json === undefined ? {} : { 'Content-Type': 'application/json; charset=utf-8' }),
    ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }),
    ...headers,
  });
  res.end(body);
}
