import { defineConfig } from 'vitest/config';
import { OTHER_RELEASES, releasesInUse, type OtherRelease } from './test/control-plane/go.ts';
import { LongestFirst } from './test/longest-first.ts';

const SHARED = {
  globalSetup: ['test/own-environment.ts', 'test/control-plane/global-setup.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/** Most of a file is waiting, for a control plane to start and for its answers. */
const SIDE_BY_SIDE = { ...SHARED, testTimeout: 180_000, maxWorkers: 3 };

/** When the others have run. Each waits for seconds on the clock of the machine, and leaves the processors to two more. */
const TIMED_TOGETHER = { ...SHARED, maxWorkers: 3, sequence: { groupOrder: 1 } };

/** What they say is about those seconds, so nothing that needs the processors may run beside them. */
const TIMED = ['chaos', 'end-to-end', 'karpenter', 'karpenter-repair'];

const fileOf = (suite: string): string => `test/control-plane/${suite}.test.ts`;

/** What runs on the oldest release, too: what `deploy/` installs, how the forwarder reads, one scenario of each concern, the command line. */
export const ON_OLDEST = [
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
  'doctor',
  'uninstall',
];
/** And on the newest: the contracts, what `deploy/` installs, and repair beside Karpenter. */
export const ON_NEWEST = [
  'install',
  'installed-forwarder',
  'forwarder',
  'api-server',
  'kubernetes',
  'do-not-disrupt-warning',
  'unstated-reach-warning',
  'repair-definition',
  'termination-policy',
  'denials',
  'grace-period',
  'karpenter-repair',
  'end-to-end',
  'command-line',
  'doctor',
  'uninstall',
];

/** Two minutes each time, and karpenter.test.ts has Karpenter on the main release. */
export const ON_NEWEST_ALONE = ['karpenter-repair'];

const SUITES_ON: Readonly<Record<OtherRelease, readonly string[]>> = {
  newest: ON_NEWEST,
  between: ON_OLDEST,
  oldest: ON_OLDEST,
};

/** Those suites once more, on another release (`test/control-plane/go.ts`). */
function projectsOn(name: OtherRelease) {
  const env = { CURFEW_TEST_RELEASE: name };
  const suites = SUITES_ON[name];
  const own = `test/control-plane/${name}/*.test.ts`;
  const include = [own, ...suites.filter(suite => !TIMED.includes(suite)).map(fileOf)];
  const timed = suites.filter(suite => TIMED.includes(suite)).map(fileOf);
  return [
    { test: { ...SIDE_BY_SIDE, name, env, include } },
    { test: { ...TIMED_TOGETHER, name: `${name}-timed`, env, include: timed } },
  ];
}

const notOnMain = releasesInUse().length > 0 ? ON_NEWEST_ALONE : [];

/**
 * Suites against a real kube-apiserver; each file starts one of its own. The same contracts run on the embedded API server and on the
 * stores beside it: the summary at the end shows both sides.
 *
 * Some run again, on the newest release and on the oldest that docs/deploying.md promises. Components that KUBEBUILDER_ASSETS names are
 * of one release, so nothing runs twice.
 */
export default defineConfig({
  test: {
    reporters: ['default', './test/control-plane/summary-reporter.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...SIDE_BY_SIDE,
          name: 'main',
          include: [
            'test/control-plane/**/*.test.ts',
            'test/contract/*.test.ts',
            'test/shared/adapters/dynamodb/record-store.test.ts',
          ],
          exclude: [...OTHER_RELEASES.map(release => `test/control-plane/${release}/**`), ...TIMED.map(fileOf)],
        },
      },
      {
        test: {
          ...TIMED_TOGETHER,
          name: 'main-timed',
          include: TIMED.filter(suite => !notOnMain.includes(suite)).map(fileOf),
        },
      },
      ...releasesInUse().flatMap(projectsOn),
    ],
  },
});
