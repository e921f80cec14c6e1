import { type FieldProblem } from '../errors.js';
import { isTextRecord } from './text-record.js';

export const MQ_ACKS = ['delivered', 'receipt'] as const;

/** One message per attempt, to an exchange of a RabbitMQ broker. */
export interface MqExecutorSpec {
  readonly type: 'mq';
  /** A broker that the workers know by name. */
  readonly broker: string;
  /** Empty: the default exchange, whose routing keys are names of queues. */
  readonly exchange: string;
  readonly routingKey: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `delivered`: a confirmed publish is success. `receipt`: a receipt of the consumer says how the work ended. */
  readonly ack: (typeof MQ_ACKS)[number];
}

/** AMQP 0-9-1 short strings have 255 bytes at most. */
const MAX_SHORT_STRING_BYTES = 255;
const BROKER_NAME = /^[a-z][a-z0-9_]{0,31}$/;
const MAX_HEADERS = 50;
/** Names and values together: half of what clients can encode, since ax adds headers of its own. */
const MAX_HEADER_BYTES = 32_768;
/** Set by ax itself. */
const RESERVED_HEADERS = /^(traceparent|tracestate|x-ax-.*)$/i;

/** Every broken rule, by API field (`executor.routing_key`, …); empty when it holds. */
export function mqSpecProblems(spec: MqExecutorSpec): FieldProblem[] {
  const brokerFix = 'use 1 to 32 lower-case letters, digits or "_", such as "default" for AX_AMQP_URL';
  const broker = BROKER_NAME.test(spec.broker)
    ? []
    : [{ field: 'executor.broker', problem: 'is not the name of a broker', fix: brokerFix }];
  return [
    ...broker,
    ...shortStringProblems('executor.exchange', spec.exchange),
    ...shortStringProblems('executor.routing_key', spec.routingKey),
    ...(spec.exchange === '' && spec.routingKey === '' ? [NO_ROUTE] : []),
    ...headerProblems(spec.headers),
  ];
}

/** From stored JSON; null if it is none. */
export function restoreMqSpec(stored: Readonly<Record<string, unknown>>): MqExecutorSpec | null {
  const { broker, exchange, routingKey, headers, ack } = stored;
  const areTexts =
    typeof broker === 'string' && typeof exchange === 'string' && typeof routingKey === 'string';
  if (!areTexts || !isTextRecord(headers)) return null;
  if (ack !== 'delivered' && ack !== 'receipt') return null;
  return { type: 'mq', broker, exchange, routingKey, headers, ack };
}

const NO_ROUTE: FieldProblem = {
  field: 'executor.routing_key',
  problem: 'is empty, and so is the exchange',
  fix: 'give the name of a queue, or an exchange',
};

function shortStringProblems(field: string, value: string): FieldProblem[] {
  const bytes = new TextEncoder().encode(value).length;
  if (bytes > MAX_SHORT_STRING_BYTES)
    return [{ field, problem: `has ${bytes} bytes`, fix: `use at most ${MAX_SHORT_STRING_BYTES} bytes` }];
  if (/\p{Cc}/u.test(value)) return [{ field, problem: 'has control characters', fix: 'leave them out' }];
  return [];
}

function headerProblems(headers: Readonly<Record<string, string>>): FieldProblem[] {
  const names = Object.keys(headers);
  const fix = `give at most ${MAX_HEADERS}`;
  const count =
    names.length > MAX_HEADERS
      ? [{ field: 'executor.headers', problem: `has ${names.length} headers`, fix }]
      : [];
  const bytes = new TextEncoder().encode(Object.entries(headers).flat().join('')).length;
  const size =
    bytes > MAX_HEADER_BYTES
      ? [
          {
            field: 'executor.headers',
            problem: `has ${bytes} bytes`,
            fix: `use at most ${MAX_HEADER_BYTES} bytes`,
          },
        ]
      : [];
  return [...count, ...size, ...names.flatMap((name) => headerProblem(name, headers[name] ?? ''))];
}

function headerProblem(name: string, value: string): FieldProblem[] {
  const field = `executor.headers.${name}`;
  if (!/^[\x21-\x7e]{1,128}$/.test(name))
    return [{ field, problem: 'is not a header name', fix: 'use 1 to 128 printable ASCII characters' }];
  if (RESERVED_HEADERS.test(name)) return [{ field, problem: 'is set by ax', fix: 'leave it out' }];
  if (/^\P{Cc}{0,4096}$/u.test(value)) return [];
  const problem = 'has a line break or a control character, or is too long';
  return [{ field, problem, fix: 'use one line of 4096 characters at most' }];
}
