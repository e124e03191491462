import { defineConfig } from 'vitest/config';

const SHARED = {
  globalSetup: ['test/own-environment.ts', 'test/control-plane/global-setup.ts'],
  fileParallelism: false,
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/**
 * Suites against a real kube-apiserver; each file starts one of its own, so they run one after the other. The same contracts run on
 * the embedded API server and on the stores beside it: the summary at the end shows both sides.
 *
 * Some run a second time, on the oldest release that docs/deploying.md promises: what `deploy/` installs, how the forwarder reads, one
 * scenario after the other, the command line. Components that KUBEBUILDER_ASSETS names are of one release, so nothing runs twice.
 */
export default defineConfig({
  test: {
    fileParallelism: false,
    reporters: ['default', './test/control-plane/summary-reporter.ts'],
    projects: [
      {
        test: {
          ...SHARED,
          name: 'newest',
          include: [
            'test/control-plane/**/*.test.ts',
            'test/contract/*.test.ts',
            'test/shared/adapters/dynamodb/record-store.test.ts',
          ],
          exclude: ['test/control-plane/oldest/**'],
        },
      },
      ...(process.env['KUBEBUILDER_ASSETS']
        ? []
        : [
            {
              test: {
                ...SHARED,
                name: 'oldest',
                env: { CURFEW_TEST_RELEASE: 'oldest' },
                include: [
                  'test/control-plane/oldest/*.test.ts',
                  ...[
                    'install',
                    'installed-forwarder',
                    'forwarder',
                    'kubernetes',
                    'do-not-disrupt-warning',
                    'unstated-reach-warning',
                    'denials',
                    'grace-period',
                    'end-to-end',
                    'command-line',
                    'uninstall',
                  ].map(name => `test/control-plane/${name}.test.ts`),
                ],
              },
            },
          ]),
    ],
  },
});
