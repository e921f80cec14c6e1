import { createHmac } from 'node:crypto';
import { CallRefused } from './call-refused.js';
import { type HttpRequest } from './http-request.js';

/**
 * The value of X-Ax-Signature: `t=<unix seconds>,v1=<hex>`, the hex being the HMAC-SHA256 of `<t>.<body>`, or of `<t>.<method> <path and
 * query>` for a request without a body. The scheme is that of Stripe's webhooks (https://docs.stripe.com/webhooks#verify-manually): the
 * time is signed with the rest, so that a request that was overheard is of use for as long only as its callee tolerates.
 */
export function httpSignature(
  secret: string,
  { method, path, body }: Pick<HttpRequest, 'method' | 'path' | 'body'>,
  now: number,
): string {
  const seconds = Math.floor(now / 1000);
  const signed = `${seconds}.${body ?? `${method} ${path}`}`;
  return `t=${seconds},v1=${createHmac('sha256', secret).update(signed).digest('hex')}`;
}

/** A secret by the name that tasks use. @throws CallRefused `configuration` that names the variable. */
export function secretNamed(name: string, secrets: ReadonlyMap<string, string>): string {
  const secret = secrets.get(name);
  if (secret !== undefined) return secret;
  const variable = `AX_SECRET_${name}`;
  const message = `this worker cannot sign the request: ${variable} is not set`;
  throw new CallRefused('configuration', message, { variable });
}
