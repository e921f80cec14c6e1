import { type Knex } from 'knex';

const say = (): void => undefined;

/** knex prints warnings on the standard output, which belongs to ax's own log; every failure that they tell of is thrown as well. */
export const silentLog: Knex.Logger = { warn: say, error: say, deprecate: say, debug: say };
