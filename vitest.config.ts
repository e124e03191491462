import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    exclude: ['test/control-plane/**', 'test/slurm/**', 'node_modules/**'],
    testTimeout: 60_000,
  },
});
