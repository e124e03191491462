import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    exclude: ['test/control-plane/**', 'test/moto/**', 'test/slurm/**', 'test/browser/**', 'node_modules/**'],
    globalSetup: ['test/own-environment.ts', 'test/temp-folder-of-run.ts'],
    setupFiles: 'test/own-temp-folder.ts',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Half the time of `npm test` went into loading the same modules for each file; no test leaves anything behind in them.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Node runs the sources as they are, as in every command; rewritten for mocks, which nothing here uses, they take a quarter longer.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Tests wait for processes: with one for each of two cores, a fifth of the time nothing ran.
    maxWorkers: availableParallelism() + 1,
  },
});
