import { defineConfig } from 'vitest/config';

const project = (name: string, include: string[], needsServers: boolean) => ({
  test: {
    name,
    include,
    ...(needsServers ? { globalSetup: ['test/support/servers/global-setup.ts'] } : {}),
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

/** Runs when all other projects have ended, so that it has the machine for itself. */
const last = ({ test }: ReturnType<typeof project>) => ({ test: { ...test, sequence: { groupOrder: 1 } } });

export default defineConfig({
  test: {
    projects: [
      project('unit', ['test/unit/**/*.test.ts'], false),
      project('simulation', ['test/simulation/**/*.test.ts'], false),
      project('contract', ['test/contract/**/*.test.ts'], true),
      project('integration', ['test/integration/**/*.test.ts'], true),
      project('e2e', ['test/e2e/**/*.test.ts'], true),
      last(project('faults', ['test/faults/**/*.test.ts'], false)),
    ],
  },
});
