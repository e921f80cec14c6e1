#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { DST_GAPS, DST_OVERLAPS } from '../domain/cron.js';
import { CRON_DIALECTS } from '../domain/cron/cron-fields.js';
import { zoneDataVersion } from '../domain/cron/time-zone.js';
import { AxError, InvalidInput, messageOf } from '../domain/errors.js';
import {
  environment,
  parseConfig,
  parseExplanation,
  parseMigration,
  parseVerification,
  type Role,
} from './config.js';
import { doctor } from './doctor.js';
import { migrate } from './migrate.js';
import { next, type NextOptions } from './next.js';
import { serve } from './serve.js';
import { verify } from './verify.js';
import { why } from './why.js';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const atLeastOne = (text: string): number => {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1 || n > 1000)
    throw new InvalidArgumentError('give a whole number from 1 to 1000');
  return n;
};

/** What an error ends the process with. */
let errorCode = 1;

const program = new Command('ax')
  .description('A lightweight distributed scheduler for timed tasks.')
  .version(`${version} (time zone data ${zoneDataVersion()})`)
  .showHelpAfterError();

program
  .command('serve')
  .description('run ax until it is told to stop (SIGTERM or Ctrl-C)')
  .addOption(
    new Option('--role <role>', 'what this process does')
      .choices(['all', 'coordinator', 'worker'])
      .default('all'),
  )
  .option('--examples <file>', 'tasks to begin with on the first run, and the endpoint that they call')
  .action(async (options: { role: Role; examples?: string }) => {
    const config = parseConfig(environment(), options.role, process.stdout.isTTY);
    await serve(config, { version, examples: options.examples ?? null });
  });

program
  .command('migrate')
  .description('bring the tables in AX_MYSQL_URL up to date')
  .action(async () => migrate(parseMigration(environment()).mysqlUrl));

program
  .command('next')
  .description(
    'say what a cron expression means and when it fires; without one, each line of the crontab on stdin',
  )
  .argument('[expr]', 'five fields (minute first), six (second first) or seven (quartz, year last), quoted')
  .option('--tz <zone>', 'IANA time zone', 'UTC')
  .option('-n, --count <n>', 'how many fire times', atLeastOne, 5)
  .option('--from <instant>', 'RFC 3339 with an offset, or epoch milliseconds (default: now)')
  .addOption(new Option('--dialect <name>', 'how it is read').choices(CRON_DIALECTS).default('unix'))
  .addOption(
    new Option('--dst-gap <rule>', 'times that the clocks leave out').choices(DST_GAPS).default('fire_after'),
  )
  .addOption(
    new Option('--dst-overlap <rule>', 'times that they show twice').choices(DST_OVERLAPS).default('first'),
  )
  .option('--json', 'print the JSON of POST /api/schedules/preview; of a crontab, a list')
  .action((expr: string | undefined, options: NextOptions) => {
    if (!next(expr, options)) process.exitCode = 1;
  });

program
  .command('verify')
  .description(
    'check the recorded history against the schedules; ends with 1 if a rule is broken, 2 on an error',
  )
  .option('--from <instant>', 'RFC 3339 with an offset, or epoch milliseconds (default: a day before --to)')
  .option('--to <instant>', 'the same (default: now)')
  .option('--json', 'print the JSON of GET /api/verify')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .action(async (options: { from?: string; to?: string; json?: boolean }) => {
    errorCode = 2;
    process.exitCode = (await verify(parseVerification(environment()), options)) ? 0 : 1;
  });

program
  .command('why')
  .description('say what became of the run of a task that was expected at an instant')
  .argument('<task>', 'id of the task')
  .option('--at <instant>', 'RFC 3339 with an offset, or epoch milliseconds (default: the last slot)')
  .option('--json', 'print the JSON of GET /api/tasks/{id}/why')
  .action(async (task: string, options: { at?: string; json?: boolean }) =>
    why(parseExplanation(environment()), task, options),
  );

program
  .command('doctor')
  .description('check the installation; ends with 1 if there is a problem, 2 if it cannot be looked at')
  .option('--json', 'print the JSON of GET /api/doctor')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .action(async (options: { json?: boolean }) => {
    errorCode = 2;
    process.exitCode = (await doctor(parseExplanation(environment()), options)) ? 0 : 1;
  });

try {
  await program.parseAsync();
} catch (error) {
  // What ax refuses is told in words; anything else is a bug and shows where it happened.
  const text =
    error instanceof InvalidInput
      ? error.problems.map(({ field, problem, fix }) => `${field}: ${problem}; ${fix}`).join('\n')
      : error instanceof AxError
        ? error.message
        : error instanceof Error && error.stack !== undefined
          ? error.stack
          : messageOf(error);
  process.stderr.write(`ax: ${text}\n`);
  process.exitCode = errorCode;
}
