import { hostname } from 'node:os';
import { z } from 'zod';
import { type TracingOptions } from '../adapters/telemetry/tracing-options.js';
import { AxError } from '../domain/errors.js';
import { brokerProblems, brokersOf } from './broker-variables.js';
import { DEFAULT_MAX_WAITING } from '../ports/claims.js';
import { egressRules } from './egress-variables.js';
import { name, NAME, url, whole } from './config-fields.js';
import { secretsOf } from './secret-variables.js';
import { tracingOf, tracingProblems } from './tracing-variables.js';
import { unknownNames } from './unknown-variables.js';

export type Role = 'all' | 'coordinator' | 'worker';

/** Where tasks and messages live. A worker alone needs no MySQL. */
export type Backend =
  | { readonly mode: 'cluster'; readonly mysqlUrl: string | null; readonly redisUrl: string }
  | { readonly mode: 'embedded'; readonly dataDir: string };

/** What a worker needs to run shell tasks. */
export interface ShellConfig {
  /** Of commands whose task names none. */
  readonly cwd: string;
  readonly killGraceMs: number;
  readonly engine: 'docker' | 'podman';
  /** This process's environment without the `AX_` names. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface Config {
  readonly role: Role;
  readonly backend: Backend;
  readonly namespace: string;
  readonly nodeId: string;
  readonly http: { readonly host: string; readonly port: number };
  /** Where targets reach the API, without a slash at its end; null: not known. */
  readonly publicUrl: string | null;
  readonly adminToken: string | null;
  /** Null: no traces are exported. */
  readonly tracing: TracingOptions | null;
  readonly log: { readonly level: string; readonly isPretty: boolean };
  readonly tickMs: number;
  readonly leaseMs: number;
  readonly queueLimit: number;
  readonly pools: readonly string[];
  readonly concurrency: number;
  readonly claimTtlMs: number;
  readonly overlapLimit: number;
  readonly drainMs: number;
  readonly clockLimitMs: number;
  /** Which tasks have series of their own. */
  readonly metrics: { readonly maxTasks: number; readonly by: 'task' | 'group' };
  /** AMQP URLs by the names that tasks use. */
  readonly brokers: ReadonlyMap<string, string>;
  /** Secrets that sign requests, by the names that tasks use. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Rules for the calls of this worker. */
  readonly egress: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** Null: this worker runs no shell tasks. */
  readonly shell: ShellConfig | null;
}

/** Every variable ax reads but those that name brokers and secrets, with its form and default; docs/configuration.md says what each is for. */
const VARIABLES = {
  AX_MYSQL_URL: url(['mysql:', 'mariadb:'], 'mysql://user:password@host:3306/ax').optional(),
  AX_REDIS_URL: url(['redis:', 'rediss:'], 'redis://host:6379').optional(),
  AX_DATA_DIR: z.string().min(1).default('./ax-data'),
  AX_NAMESPACE: name.default('default'),
  AX_NODE_ID: name.optional(),
  AX_HTTP_HOST: z.string().min(1).default('127.0.0.1'),
  AX_HTTP_PORT: whole(0, 65_535, 8080),
  AX_HTTP_ALLOW: egressRules,
  AX_HTTP_DENY: egressRules,
  AX_PUBLIC_URL: url(['http:', 'https:'], 'https://ax.example')
    .refine((text) => !/[@?#]/.test(text), 'leave out user, query and fragment')
    .transform((text) => new URL(text).href.replace(/\/+$/, ''))
    .optional(),
  AX_ADMIN_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without blanks')
    .min(16, 'must have at least 16 characters')
    .optional(),
  AX_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  AX_LOG_FORMAT: z.enum(['json', 'pretty']).optional(),
  AX_TRACE_KEEP_FAILURES: z.enum(['true', 'false']).default('true'),
  AX_TICK_MS: whole(10, 60_000, 1000),
  AX_LEASE_MS: whole(500, 600_000, 5000),
  AX_QUEUE_LIMIT: whole(1, 10_000_000, 100_000),
  AX_POOLS: z
    .string()
    .transform((text) => text.split(',').map((pool) => pool.trim()))
    .refine((pools) => pools.every((pool) => NAME.test(pool)), 'give pool names separated by commas')
    .default(['default']),
  AX_WORKER_CONCURRENCY: whole(1, 10_000, 100),
  AX_CLAIM_TTL_MS: whole(1000, 600_000, 15_000),
  AX_OVERLAP_LIMIT: whole(1, 10_000, DEFAULT_MAX_WAITING),
  AX_DRAIN_SEC: whole(0, 86_400, 30),
  AX_CLOCK_LIMIT_MS: whole(1, 3_600_000, 1000),
  AX_METRICS_MAX_TASKS: whole(1, 10_000, 200),
  AX_METRICS_BY: z.enum(['task', 'group']).default('task'),
  AX_SHELL_ENABLED: z.enum(['true', 'false']).default('false'),
  AX_SHELL_CWD: z.string().startsWith('/', 'must be an absolute path').default('/tmp'),
  AX_KILL_GRACE_SEC: whole(0, 600, 5),
  AX_CONTAINER_ENGINE: z.enum(['docker', 'podman']).default('docker'),
};

type Values = z.infer<z.ZodObject<typeof VARIABLES>>;

/**
 * The whole configuration from the environment.
 * @throws AxError `refused_start` that lists every problem at once, unknown `AX_` names included.
 */
export function parseConfig(env: NodeJS.ProcessEnv, role: Role, isTerminal: boolean): Config {
  const { values, backend } = readVariables(env, (read) => backendOf(read, role));
  return {
    role,
    backend,
    namespace: values.AX_NAMESPACE,
    nodeId:
      values.AX_NODE_ID ??
      `${hostname()
        .replaceAll(/[^A-Za-z0-9._-]/g, '-')
        .slice(0, 48)}-${process.pid}`,
    http: { host: values.AX_HTTP_HOST, port: values.AX_HTTP_PORT },
    publicUrl: values.AX_PUBLIC_URL ?? null,
    adminToken: values.AX_ADMIN_TOKEN ?? null,
    tracing: tracingOf(env, values.AX_TRACE_KEEP_FAILURES === 'true'),
    log: {
      level: values.AX_LOG_LEVEL,
      isPretty: values.AX_LOG_FORMAT === undefined ? isTerminal : values.AX_LOG_FORMAT === 'pretty',
    },
    // A leader that slept longer would lose its lease between two turns.
    tickMs: Math.min(values.AX_TICK_MS, Math.floor(values.AX_LEASE_MS / 3)),
    leaseMs: values.AX_LEASE_MS,
    queueLimit: values.AX_QUEUE_LIMIT,
    pools: values.AX_POOLS,
    concurrency: values.AX_WORKER_CONCURRENCY,
    claimTtlMs: values.AX_CLAIM_TTL_MS,
    overlapLimit: values.AX_OVERLAP_LIMIT,
    drainMs: values.AX_DRAIN_SEC * 1000,
    clockLimitMs: values.AX_CLOCK_LIMIT_MS,
    metrics: { maxTasks: values.AX_METRICS_MAX_TASKS, by: values.AX_METRICS_BY },
    brokers: brokersOf(env),
    secrets: secretsOf(env),
    egress: { allow: values.AX_HTTP_ALLOW, deny: values.AX_HTTP_DENY },
    shell: values.AX_SHELL_ENABLED === 'true' ? shellOf(values, env) : null,
  };
}

/** What `ax migrate` needs. @throws AxError `refused_start` as `parseConfig`, or if there is no `AX_MYSQL_URL`. */
export function parseMigration(env: NodeJS.ProcessEnv): { readonly mysqlUrl: string } {
  const why =
    'AX_MYSQL_URL is not set: give the database to migrate (embedded mode migrates by itself at start)';
  const { backend } = readVariables(env, ({ AX_MYSQL_URL: mysqlUrl }) =>
    mysqlUrl === undefined ? why : { mysqlUrl },
  );
  return backend;
}

/** The store whose history `ax verify` and `ax why` read. */
export type VerifiedStore = { readonly mysqlUrl: string } | { readonly dataDir: string };

/** What `ax verify` needs: no Redis. @throws AxError `refused_start` as `parseConfig`. */
export function parseVerification(env: NodeJS.ProcessEnv): VerifiedStore {
  return readVariables(env, storeOf).backend;
}

/** What `ax why` and `ax doctor` need; what they can ask besides the store, if Redis is named. @throws AxError `refused_start` as `parseConfig`. */
export function parseExplanation(env: NodeJS.ProcessEnv): {
  readonly store: VerifiedStore;
  readonly redis: { readonly url: string; readonly namespace: string } | null;
  readonly queueLimit: number;
  readonly clockLimitMs: number;
} {
  const { values, backend: store } = readVariables(env, storeOf);
  const { AX_REDIS_URL: url, AX_NAMESPACE: namespace, AX_QUEUE_LIMIT: queueLimit } = values;
  const redis = url === undefined ? null : { url, namespace };
  return { store, redis, queueLimit, clockLimitMs: values.AX_CLOCK_LIMIT_MS };
}

function storeOf({ AX_MYSQL_URL, AX_REDIS_URL, AX_DATA_DIR }: Values): VerifiedStore | string {
  if (AX_MYSQL_URL !== undefined) return { mysqlUrl: AX_MYSQL_URL };
  const why = 'AX_REDIS_URL is set and AX_MYSQL_URL is not: the history of a cluster is in its database';
  return AX_REDIS_URL === undefined ? { dataDir: AX_DATA_DIR } : why;
}

/** The environment of this process. */
export const environment = (): NodeJS.ProcessEnv => process.env;

function readVariables<B extends object>(env: NodeJS.ProcessEnv, choose: (values: Values) => B | string) {
  const parsed = z.object(VARIABLES).safeParse(withoutEmpty(env));
  const chosen = parsed.success ? choose(parsed.data) : null;
  const problems = [
    ...unknownNames(env, Object.keys(VARIABLES)),
    ...brokerProblems(env),
    ...tracingProblems(env),
    ...(parsed.error?.issues ?? []).map((issue) => `${String(issue.path[0])}: ${issue.message}`),
    ...(typeof chosen === 'string' ? [chosen] : []),
  ];
  if (problems.length === 0 && parsed.success && chosen !== null && typeof chosen !== 'string') {
    return { values: parsed.data, backend: chosen };
  }
  throw new AxError('refused_start', `the configuration has problems:\n  ${problems.join('\n  ')}`);
}

function backendOf(values: Values, role: Role): Backend | string {
  const { AX_MYSQL_URL: mysqlUrl, AX_REDIS_URL: redisUrl } = values;
  if (mysqlUrl === undefined && redisUrl === undefined) {
    if (role === 'all') return { mode: 'embedded', dataDir: values.AX_DATA_DIR };
    return `--role ${role} needs AX_REDIS_URL${role === 'worker' ? '' : ' and AX_MYSQL_URL'}; without them ax runs embedded, in one process with --role all`;
  }
  if (redisUrl === undefined)
    return 'AX_MYSQL_URL is set and AX_REDIS_URL is not: set both (cluster) or neither (embedded)';
  if (mysqlUrl === undefined && role !== 'worker') {
    return 'AX_REDIS_URL is set and AX_MYSQL_URL is not: set both (cluster) or neither (embedded); only --role worker needs no MySQL';
  }
  return { mode: 'cluster', mysqlUrl: mysqlUrl ?? null, redisUrl };
}

const shellOf = (values: Values, env: NodeJS.ProcessEnv): ShellConfig => ({
  cwd: values.AX_SHELL_CWD,
  killGraceMs: values.AX_KILL_GRACE_SEC * 1000,
  engine: values.AX_CONTAINER_ENGINE,
  environment: Object.fromEntries(
    Object.entries(env).flatMap(([key, value]) =>
      key.startsWith('AX_') || value === undefined ? [] : [[key, value]],
    ),
  ),
});

/** A variable set to nothing counts as not set. */
const withoutEmpty = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([key, value]) => key.startsWith('AX_') && value !== ''));
