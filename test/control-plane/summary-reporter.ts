/** What a run against the real control plane showed: its versions, the contract cases on each server, the known differences. */
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { DIFFERENCES, type Difference } from '../contract/differences.ts';
import { ensureControlPlaneBinaries } from './build.ts';
import { OTHER_RELEASES, readPins, type OtherRelease } from './go.ts';

/** Suites that are contracts, by the beginning of their names; what follows is the server. */
const CONTRACTS = [
  'API server',
  'deploy/',
  "Karpenter's definitions",
  'KubernetesApi',
  'ClusterWatch',
  'RecordStore',
  'DueIndex',
] as const;

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Cases by contract and server: `API server: embedded`. */
export function countContractCases(
  cases: Iterable<{
    readonly suites: readonly string[];
    readonly state: string;
    /** Of kube-apiserver, where it is not the newest. */
    readonly release?: string;
  }>,
): ReadonlyMap<string, ReadonlyMap<string, Counts>> {
  const counted = new Map<string, Map<string, Counts>>();
  for (const { suites, state, release } of cases) {
    for (const suite of suites) {
      const contract = CONTRACTS.find(name => suite.startsWith(`${name}: `));
      if (contract === undefined) continue;
      // KubernetesApi has a suite for each verb.
      const name = suite
        .slice(contract.length + 2)
        .replace(/: (reading|creating|patching|deleting|evicting|custom resources|events)$/, '');
      const server = release === undefined ? name : `${name} (${release})`;
      const servers = counted.get(contract) ?? new Map<string, Counts>();
      counted.set(contract, servers);
      const counts = servers.get(server) ?? { passed: 0, failed: 0, skipped: 0 };
      servers.set(server, counts);
      counts[state === 'passed' || state === 'failed' ? state : 'skipped'] += 1;
      break;
    }
  }
  return counted;
}

/** The summary as lines of text. */
export function formatSummary(
  versions: Readonly<Record<string, string | undefined>>,
  counted: ReturnType<typeof countContractCases>,
  differences: readonly Difference[],
): readonly string[] {
  const lines = ['', 'Real control plane'];
  for (const [component, version] of Object.entries(versions)) lines.push(`  ${component} ${version ?? 'not there'}`);
  lines.push('', 'Contract cases');
  for (const [contract, servers] of counted) {
    for (const [server, { passed, failed, skipped }] of servers) {
      const rest = [failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`].filter(Boolean);
      lines.push(`  ${contract} on ${server}: ${passed} hold${rest.length === 0 ? '' : `, ${rest.join(', ')}`}`);
    }
  }
  lines.push('', 'Known differences of the embedded API server');
  if (differences.length === 0) lines.push('  none');
  for (const { id, what, why } of differences) lines.push(`  ${id}: ${what} ${why}`);
  return lines;
}

const SLOWEST = 12;

/** The files that take longest, and all of each release: where the time of a run goes. */
export function formatTimes(
  files: readonly { readonly release: string; readonly file: string; readonly ms: number }[],
): readonly string[] {
  const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
  const line = (ms: number, what: string): string => `  ${seconds(ms).padStart(6)}  ${what}`;
  const releases = [...new Set(files.map(({ release }) => release))].map(release => {
    const own = files.filter(each => each.release === release);
    return line(
      own.reduce((sum, { ms }) => sum + ms, 0),
      `${release}: ${own.length} files`,
    );
  });
  const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
  return ['', 'Times', ...releases, ...slowest.map(({ release, file, ms }) => line(ms, `${file} (${release})`))];
}

const suitesOf = (test: TestCase): readonly string[] => {
  const names: string[] = [];
  for (let parent = test.parent; parent.type === 'suite'; parent = parent.parent) names.push(parent.name);
  return names;
};

/** The release of a project of `vitest.control-plane.config.ts`, by its name; none is the main one. */
export const releaseOf = (project: string): OtherRelease | undefined =>
  OTHER_RELEASES.find(release => project === release || project === `${release}-timed`);

export default class SummaryReporter implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const { versions } = await ensureControlPlaneBinaries(() => undefined);
    const { others } = await readPins();
    const cases = modules.flatMap(module => [...module.children.allTests()]);
    const versionOf = (test: TestCase): string | undefined => {
      const release = releaseOf(test.project.name);
      return release && others[release].version;
    };
    const counted = countContractCases(
      cases.map(test => {
        const release = versionOf(test);
        return { suites: suitesOf(test), state: test.result().state, ...(release !== undefined && { release }) };
      }),
    );
    const releases = new Set(cases.flatMap(test => versionOf(test) ?? []));
    const named = {
      'kube-apiserver': [versions.kubernetes, ...releases].join(' and '),
      etcd: versions.etcd,
      "Karpenter's CRDs": versions.karpenter,
    };
    const times = modules.map(module => ({
      release: module.project.name,
      file: module.relativeModuleId,
      ms: module.diagnostic().duration,
    }));
    const lines = [...formatSummary(named, counted, DIFFERENCES), ...formatTimes(times)];
    process.stdout.write(`${lines.join('\n')}\n`);
  }
}
