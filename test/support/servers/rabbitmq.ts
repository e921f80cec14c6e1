import { existsSync } from 'node:fs';
import { connect } from 'amqplib';
import type { FindProgram, Place, ServerKind } from './server-kind.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** `amqp://…`, shared by all test files: each uses queues and exchanges of its own. */
    amqpUrl: string;
  }
}

const CONNECT_MS = 5000;

/** Debian's program of that name insists on its own account and log directory, and runs this one. */
const PLAIN_FOLDER = '/usr/lib/rabbitmq/bin';

function plain(name: string, find: FindProgram): string | undefined {
  const found = find(name);
  const inside = `${PLAIN_FOLDER}/${name}`;
  return found !== undefined && existsSync(inside) ? inside : found;
}

/** Shell lines that point a program of RabbitMQ to the instance in `place`. */
const surroundings = ({ directory, port, sparePorts: [distPort, epmdPort] }: Place) => `
export HOME=${directory}
export RABBITMQ_NODENAME=ax${port}@localhost
export RABBITMQ_NODE_IP_ADDRESS=127.0.0.1
export RABBITMQ_NODE_PORT=${port}
export RABBITMQ_DIST_PORT=${distPort}
export RABBITMQ_MNESIA_BASE=${directory}/data
export RABBITMQ_LOG_BASE=${directory}/logs
export RABBITMQ_CONF_ENV_FILE=${directory}/none
export RABBITMQ_CONFIG_FILE=${directory}/rabbitmq.conf
export RABBITMQ_ENABLED_PLUGINS_FILE=${directory}/plugins
export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}'
export ERL_EPMD_PORT=${epmdPort}
export ERL_EPMD_ADDRESS=127.0.0.1
`;

export const rabbitmq: ServerKind = {
  title: 'RabbitMQ',
  provides: 'amqpUrl',
  variable: 'AX_TEST_AMQP_URL',
  url: ({ host, port }, password) => `amqp://ax:${password}@${host}:${port}`,
  async logIn(url) {
    const connection = await connect(url, { timeout: CONNECT_MS });
    connection.on('error', () => undefined);
    const { version } = connection.connection.serverProperties;
    await connection.close();
    return version;
  },
  container: {
    image: 'rabbitmq:4-alpine',
    port: 5672,
    environment: (password) => ({ RABBITMQ_DEFAULT_USER: 'ax', RABBITMQ_DEFAULT_PASS: password }),
    command: () => ['rabbitmq-server'],
  },
  programs: 'rabbitmq-server and epmd',
  recipe(find) {
    const [server, control, epmd] = [
      plain('rabbitmq-server', find),
      plain('rabbitmqctl', find),
      find('epmd'),
    ];
    if (!server || !control || !epmd) return undefined;
    return {
      name: 'rabbitmq-server',
      users: ['rabbitmq', 'nobody'],
      files: (place) => ({
        'rabbitmq.conf': `default_user = ax\ndefault_pass = ${place.password}\nlog.console = true\nlog.console.level = warning\nlog.file = false\n`,
        plugins: '[].\n',
        // Its own epmd, in the group of the server, where a shared one would stay behind as a daemon.
        server: `${surroundings(place)}
${epmd} &
until ${epmd} -names >/dev/null 2>&1; do sleep 0.1; done
exec ${server}
`,
        /** rabbitmqctl for this instance. */
        control: `${surroundings(place)}\nexec ${control} "$@"\n`,
      }),
      commands: ({ directory }) => [['sh', `${directory}/server`]],
    };
  },
  debianPackage: 'rabbitmq-server',
};
