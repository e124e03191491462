import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';

/** They count by V8 which functions ran. A process that has long run other files ends in a failed check of V8 when that begins. */
const COUNTED_BY_V8 = ['test/architecture/figures.test.ts'];

const SHARED = {
  globalSetup: ['test/own-environment.ts', 'test/temp-folder-of-run.ts'],
  setupFiles: 'test/own-temp-folder.ts',
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Node runs the sources as they are, as in every command; rewritten for mocks, which nothing here uses, they take a quarter longer.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // Tests wait for processes: with one for each of two cores, a fifth of the time nothing ran.
  maxWorkers: availableParallelism() + 1,
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...SHARED,
          name: 'all',
          include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: [
            'test/control-plane/**',
            'test/moto/**',
            'test/slurm/**',
            'test/browser/**',
            'node_modules/**',
            ...COUNTED_BY_V8,
          ],
          // Half the time of `npm test` went into loading the same modules for each file; no test leaves anything behind in them.
          isolate: false,
        },
      },
      { test: { ...SHARED, name: 'counted', include: COUNTED_BY_V8, isolate: true } },
    ],
  },
});
