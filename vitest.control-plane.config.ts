import { defineConfig } from 'vitest/config';

/** Suites against a real kube-apiserver; each file starts one of its own, so they run one after the other. */
export default defineConfig({
  test: {
    include: ['test/control-plane/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    // The first run may build the control plane.
    hookTimeout: 45 * 60_000,
    reporters: ['default'],
  },
});
