import { z } from 'zod';
import { type ExecutorSpec } from '../../domain/executor-spec.js';
import { HTTP_ACKS, HTTP_METHODS } from '../../domain/executors/http-spec.js';
import { MQ_ACKS } from '../../domain/executors/mq-spec.js';
import { strict } from './field-problems.js';

const texts = z.record(z.string(), z.string()).default({});

const http = strict({
  type: z.literal('http'),
  url: z.string(),
  method: z.enum(HTTP_METHODS).default('POST'),
  headers: texts,
  ack: z.enum(HTTP_ACKS).default('response'),
  signature: strict({ secret: z.string() }).nullable().default(null),
});

const mq = strict({
  type: z.literal('mq'),
  broker: z.string().default('default'),
  exchange: z.string().default(''),
  routing_key: z.string(),
  headers: texts,
  ack: z.enum(MQ_ACKS).default('delivered'),
});

const onlyOne = { params: { fix: 'give one of the two' } };

const shell = strict({
  type: z.literal('shell'),
  command: z.string().nullish(),
  argv: z.array(z.string()).nullish(),
  cwd: z.string().nullable().default(null),
  env: texts,
  user: z.string().nullable().default(null),
  container: strict({ name: z.string().nullish(), image: z.string().nullish() })
    .refine(({ name, image }) => (name ?? null) === null || (image ?? null) === null, {
      error: 'has both name and image',
      ...onlyOne,
    })
    .refine(({ name, image }) => (name ?? image ?? null) !== null, {
      error: 'has neither name nor image',
      ...onlyOne,
    })
    .nullable()
    .default(null),
})
  .refine(({ command, argv }) => (command ?? null) === null || (argv ?? null) === null, {
    path: ['argv'],
    error: 'does not go together with command',
    ...onlyOne,
  })
  .refine(({ command, argv }) => (command ?? argv ?? null) !== null, {
    path: ['command'],
    error: 'is missing',
    params: { fix: 'give command or argv' },
  });

/** The `executor` of a task's JSON. */
export const executor = z.discriminatedUnion('type', [http, mq, shell]);

export function executorOf(fields: z.output<typeof executor>): ExecutorSpec {
  switch (fields.type) {
    case 'http':
      return fields;
    case 'mq': {
      const { routing_key: routingKey, ...rest } = fields;
      return { ...rest, routingKey };
    }
    case 'shell': {
      const { type, command, argv, cwd, env, user, container } = fields;
      const where = container?.name ?? null;
      return {
        type,
        run: (argv ?? null) === null ? { command: command ?? '' } : { argv: argv ?? [] },
        cwd,
        env,
        user,
        container:
          container === null ? null : where === null ? { image: container.image ?? '' } : { name: where },
      };
    }
  }
}

/** As `executorOf` reads it. */
export function executorJson(spec: ExecutorSpec): Readonly<Record<string, unknown>> {
  switch (spec.type) {
    case 'http':
      return { ...spec };
    case 'mq': {
      const { routingKey, ...rest } = spec;
      return { ...rest, routing_key: routingKey };
    }
    case 'shell': {
      const { run, ...rest } = spec;
      return { ...rest, ...run };
    }
  }
}
