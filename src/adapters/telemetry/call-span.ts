import { type Outcome } from '../../domain/execution.js';
import { type HttpExecutorSpec } from '../../domain/executors/http-spec.js';
import { type MqExecutorSpec } from '../../domain/executors/mq-spec.js';
import { type ShellExecutorSpec } from '../../domain/executors/shell-spec.js';
import { type Delivered, type ExecutorRequest } from '../../ports/executor.js';
import { type SpanFacts } from '../../ports/tracer.js';

type CallSpan = Omit<SpanFacts, 'parent'>;

/** What an executor did, in the words of the semantic conventions for its technology. No secrets: neither headers nor bodies nor queries. */
export function callSpan(request: ExecutorRequest, outcome: Outcome | Delivered): CallSpan {
  const { spec } = request;
  switch (spec.type) {
    case 'http':
      return { ...httpSpan(spec, request, outcome), ...failure(outcome) };
    case 'mq':
      return { ...mqSpan(spec, request, outcome), ...failure(outcome) };
    case 'shell':
      return { ...shellSpan(spec, outcome), ...failure(outcome) };
  }
}

/** https://opentelemetry.io/docs/specs/semconv/http/http-spans/ */
function httpSpan(
  spec: HttpExecutorSpec,
  { attempt }: ExecutorRequest,
  { evidence }: Outcome | Delivered,
): CallSpan {
  const { method } = spec;
  const url = new URL(spec.url);
  const { protocol, hostname, port } = url;
  return {
    name: method,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'url.full': redacted(url),
      'server.address': hostname,
      'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
      'http.response.status_code': evidence['http_status'],
      'http.response.body.size': evidence['bytes'],
      'http.request.resend_count': attempt > 1 ? attempt - 1 : undefined,
    },
  };
}

/** https://opentelemetry.io/docs/specs/semconv/messaging/rabbitmq/ */
function mqSpan(
  { exchange, routingKey, broker }: MqExecutorSpec,
  { executionId, hook }: ExecutorRequest,
  { evidence }: Outcome | Delivered,
): CallSpan {
  const destination = [exchange, routingKey].filter((part) => part !== '').join(':') || 'amq.default';
  return {
    name: `publish ${destination}`,
    kind: 'producer',
    attributes: {
      'messaging.system': 'rabbitmq',
      'messaging.operation.type': 'send',
      'messaging.operation.name': 'publish',
      'messaging.destination.name': destination,
      'messaging.rabbitmq.destination.routing_key': routingKey === '' ? undefined : routingKey,
      'messaging.message.id': hook?.key ?? executionId,
      'messaging.message.conversation_id': executionId,
      'messaging.message.body.size': evidence['bytes'],
      'ax.mq.broker': broker,
    },
  };
}

function shellSpan({ container }: ShellExecutorSpec, { evidence }: Outcome | Delivered): CallSpan {
  return {
    name: 'run command',
    kind: 'internal',
    attributes: {
      'process.exit.code': evidence['exit_code'],
      'ax.shell.signal': evidence['signal'],
      'ax.shell.container': container !== null,
    },
  };
}

/** An answer that is no success has its status as its type. */
function failure(outcome: Outcome | Delivered): Pick<SpanFacts, 'error'> {
  if (outcome.status === 'delivered' || outcome.status === 'success') return {};
  const { status, reason, message, evidence } = outcome;
  const answered = reason === 'http_status' ? evidence['http_status'] : undefined;
  return { error: { type: String(answered ?? reason ?? status), message } };
}

/** Without user, password and the values of the query, which may be secrets. */
function redacted(url: URL): string {
  if (url.username !== '' || url.password !== '') [url.username, url.password] = ['REDACTED', 'REDACTED'];
  if (url.search !== '')
    for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, 'REDACTED');
  url.hash = '';
  return url.href;
}
