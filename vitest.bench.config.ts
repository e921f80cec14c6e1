import { defineConfig } from 'vitest/config';

/** Benchmarks print ratios; they assert nothing about time and are no part of the test command. */
export default defineConfig({
  test: {
    include: ['bench/**/*.bench.ts'],
    globalSetup: ['test/support/servers/global-setup.ts'],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
