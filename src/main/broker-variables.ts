/** `AX_AMQP_EU_URL` is the broker `eu`, `AX_AMQP_URL` the default one. */
const BROKER_VARIABLE = /^AX_AMQP_(?:([A-Z][A-Z0-9_]{0,31})_)?URL$/;
const DEFAULT_BROKER = 'default';

export const isBrokerVariable = (key: string): boolean => BROKER_VARIABLE.test(key);

/** AMQP URLs by the names that tasks use. */
export const brokersOf = (env: NodeJS.ProcessEnv): ReadonlyMap<string, string> =>
  new Map(brokerVariables(env).map(({ broker, url }) => [broker, url]));

/** What is wrong with the variables that name brokers. URLs carry passwords and are not repeated. */
export const brokerProblems = (env: NodeJS.ProcessEnv): string[] =>
  brokerVariables(env).flatMap(({ key, broker, url }) => {
    if (broker === DEFAULT_BROKER && key !== 'AX_AMQP_URL')
      return [`${key}: the broker "${broker}" is that of AX_AMQP_URL; set that one, or choose another name`];
    return isAmqpUrl(url) ? [] : [`${key}: give a URL such as amqp://user:password@host:5672`];
  });

const isAmqpUrl = (text: string): boolean =>
  URL.canParse(text) && ['amqp:', 'amqps:'].includes(new URL(text).protocol) && new URL(text).hostname !== '';

/** A variable set to nothing counts as not set. */
const brokerVariables = (env: NodeJS.ProcessEnv) =>
  Object.entries(env).flatMap(([key, url]) => {
    const match = BROKER_VARIABLE.exec(key);
    if (match === null || url === undefined || url === '') return [];
    return [{ key, broker: match[1]?.toLowerCase() ?? DEFAULT_BROKER, url }];
  });
