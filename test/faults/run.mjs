/** Runs cli.ts, which is TypeScript, with the tools that the tests have anyway. */
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const cli = fileURLToPath(new URL('./cli.ts', import.meta.url));
const { module } = await runnerImport(cli, { configFile: false, logLevel: 'error' });
process.exit(await module.main(process.argv.slice(2)));
