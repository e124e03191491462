import { defineConfig } from 'vitest/config';

/**
 * Suites against a real kube-apiserver; each file starts one of its own, so they run one after the other. The same contracts run on
 * the embedded API server and on the stores beside it: the summary at the end shows both sides.
 */
export default defineConfig({
  test: {
    include: [
      'test/control-plane/**/*.test.ts',
      'test/contract/*.test.ts',
      'test/shared/adapters/dynamodb/record-store.test.ts',
    ],
    globalSetup: ['test/own-environment.ts', 'test/control-plane/global-setup.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './test/control-plane/summary-reporter.ts'],
  },
});
