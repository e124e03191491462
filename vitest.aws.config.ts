import { defineConfig } from 'vitest/config';

/** A deployment in an AWS account that `CURFEW_AWS_ACCOUNT` names. Nothing is changed in it. */
export default defineConfig({
  test: { include: ['test/aws/**/*.test.ts'], fileParallelism: false, testTimeout: 120_000, hookTimeout: 60_000 },
});
