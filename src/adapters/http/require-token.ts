import { type RequestHandler } from 'express';
import { type Actor } from '../../application/actor.js';
import { type Authenticate } from '../../application/authenticate.js';
import { HttpError } from './problem.js';

/** Lets a request pass only with a known bearer token (RFC 6750), and keeps on whose behalf it runs as `res.locals.actor`. */
export function requireToken(authenticate: Pick<Authenticate, 'actorOf'>): RequestHandler {
  return async (req, res, next) => {
    const token = bearerToken(req.get('authorization'));
    if (token === undefined) throw unauthorized('is missing or not a bearer token', '');
    const name = await authenticate.actorOf(token);
    if (name === null) throw unauthorized('carries an unknown token', ', error="invalid_token"');
    const actor: Actor = { name, traceparent: req.get('traceparent') ?? null };
    res.locals['actor'] = actor;
    next();
  };
}

/** The token of an Authorization header; undefined if it carries none. */
export const bearerToken = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S.*)$/i.exec(authorization ?? '')?.[1];

const unauthorized = (problem: string, why: string): HttpError =>
  new HttpError(
    'unauthorized',
    [{ field: 'Authorization', problem, fix: 'send "Authorization: Bearer <token>"' }],
    { 'WWW-Authenticate': `Bearer realm="ax"${why}` },
  );
