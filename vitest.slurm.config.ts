import { defineConfig } from 'vitest/config';

/** The Slurm example against a real Slurm, which `npm test` does not need. */
export default defineConfig({
  test: {
    include: ['test/slurm/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 150_000,
  },
});
