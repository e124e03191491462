import { defineConfig } from 'vitest/config';

/** moto, an AWS emulator that nobody here wrote, which `npm test` does not need. */
export default defineConfig({
  test: {
    include: ['test/moto/**/*.test.ts'],
    // Each file has a moto of its own, which is one process that waits for the other half of the time.
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
