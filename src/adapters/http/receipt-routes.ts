import { z } from 'zod';
import { type PostReceipt } from '../../application/executions/post-receipt.js';
import { type Receipt } from '../../ports/receipts.js';
import { executionIdOf } from './execution-routes.js';
import { checked, readWith, Refusal, strict } from './field-problems.js';
import { NO_QUERY } from './list-query.js';
import { HttpError } from './problem.js';
import { bearerToken } from './require-token.js';
import { type ApiRequest, route, type Route } from './route.js';

const MAX_MESSAGE = 1000;

const message = readWith((value): string | Refusal => {
  if (typeof value !== 'string') return new Refusal('is not a string', 'give one line of text');
  if (value.length > MAX_MESSAGE)
    return new Refusal(`has ${value.length} characters`, `give at most ${MAX_MESSAGE}`);
  if (/[\p{Cc}\u2028\u2029]/u.test(value))
    return new Refusal('has a line break or another control character', 'give one line of plain text');
  if (/\p{Cs}/u.test(value)) return new Refusal('has half a character', 'send whole Unicode characters');
  return value;
});

const RECEIPT = strict({
  status: z.enum(['success', 'fail', 'progress'] satisfies Receipt['kind'][]),
  message: message.nullish(),
});

/** Receipts: authorised by the token of the attempt that they are about, and by nothing else. */
export function receiptRoutes({ postReceipt }: { readonly postReceipt: PostReceipt }): Route[] {
  return [
    route({
      method: 'post',
      path: '/executions/:id/receipt',
      query: NO_QUERY,
      handle: async (request) => {
        const token = tokenOf(request);
        const { status: kind, message: text } = checked(RECEIPT, request.body ?? {});
        const id = executionIdOf(request);
        await postReceipt.post(id, token, { kind, message: text ?? null });
        return { status: 202, json: { execution_id: id, status: kind, accepted: true } };
      },
    }),
  ];
}

/** A gateway in between may need Authorization for itself, so the header of its own comes first. */
function tokenOf(request: ApiRequest): string {
  const token = request.header('x-ax-receipt-token') ?? bearerToken(request.header('authorization'));
  if (token !== undefined && token !== '') return token;
  const fix = 'send the token that came with the request, or "Authorization: Bearer <token>"';
  throw new HttpError('unauthorized', [{ field: 'X-Ax-Receipt-Token', problem: 'is missing', fix }], {
    'WWW-Authenticate': 'Bearer realm="ax receipts"',
  });
}
