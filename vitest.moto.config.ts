import { defineConfig } from 'vitest/config';

/** moto, an AWS emulator that nobody here wrote, which `npm test` does not need. */
export default defineConfig({
  test: {
    include: ['test/moto/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
