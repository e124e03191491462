/** The summary counts contract cases by server. */
import { describe, expect, it } from 'vitest';
import config from '../../vitest.control-plane.config.ts';
import { releasesInUse } from './go.ts';
import { countContractCases, formatSummary, formatTimes, releaseOf } from './summary-reporter.ts';

const counted = countContractCases([
  { suites: ['reading', 'API server: embedded'], state: 'passed' },
  { suites: ['reading', 'API server: kube-apiserver'], state: 'passed' },
  { suites: ['reading', 'API server: kube-apiserver'], state: 'failed' },
  { suites: ['API server: kube-apiserver'], state: 'passed', release: 'v1.30.4' },
  { suites: ['KubernetesApi: embedded, over HTTP: custom resources', 'over HTTP'], state: 'passed' },
  { suites: ['KubernetesApi: embedded, over HTTP: reading', 'over HTTP'], state: 'pending' },
  { suites: ['RecordStore: DynamoDB Local (skipped: there is no java)'], state: 'skipped' },
  { suites: ['permissions'], state: 'passed' },
]);

describe('summary', () => {
  it('counts the cases of each contract on each server, and nothing else', () => {
    expect(formatSummary({ etcd: 'v3.6.8', 'Karpenter CRDs': undefined }, counted, [])).toEqual([
      '',
      'Real control plane',
      '  etcd v3.6.8',
      '  Karpenter CRDs not there',
      '',
      'Contract cases',
      '  API server on embedded: 1 hold',
      '  API server on kube-apiserver: 1 hold, 1 failed',
      '  API server on kube-apiserver (v1.30.4): 1 hold',
      '  KubernetesApi on embedded, over HTTP: 1 hold, 1 skipped',
      '  RecordStore on DynamoDB Local (skipped: there is no java): 0 hold, 1 skipped',
      '',
      'Known differences of the embedded API server',
      '  none',
    ]);
  });

  it('explains each difference', () => {
    const lines = formatSummary({}, new Map(), [{ id: 'some-difference', what: 'It differs.', why: 'For a reason.' }]);
    expect(lines.at(-1)).toBe('  some-difference: It differs. For a reason.');
  });
});

it('says where the time of a run goes', () => {
  const files = [
    { release: 'main', file: 'a.test.ts', ms: 1200 },
    { release: 'main', file: 'b.test.ts', ms: 9800 },
    { release: 'oldest', file: 'b.test.ts', ms: 4000 },
  ];
  expect(formatTimes(files)).toEqual([
    '',
    'Times',
    '    11 s  main: 2 files',
    '     4 s  oldest: 1 files',
    '    10 s  b.test.ts (main)',
    '     4 s  b.test.ts (oldest)',
    '     1 s  a.test.ts (main)',
  ]);
});

it('knows the release of each project', () => {
  const tests = (config.test?.projects ?? []).flatMap(project =>
    typeof project === 'object' && 'test' in project && project.test ? [project.test] : [],
  );
  expect(tests).toHaveLength(2 + 2 * releasesInUse().length);
  for (const { name, env } of tests) expect(releaseOf(name as string)).toBe(env?.['CURFEW_TEST_RELEASE']);
});
