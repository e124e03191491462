import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from './run-curfew.ts';
import { simulateCommand, type SimulateOptions } from '../../cli/simulate.ts';

const scenario = (name: string, expectation: string): string => `apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: ${name} }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 1h
  config: "[featureGates]\\nnodeRepair = true\\n"
  objects:
    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default }, spec: { repair: {} } }
    - apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: { name: n1, labels: { karpenter.sh/nodepool: default }, finalizers: [karpenter.sh/termination] }
      status: { nodeName: n1, providerID: "aws:///us-west-2a/i-1" }
    - apiVersion: v1
      kind: Node
      metadata: { name: n1, labels: { karpenter.sh/nodepool: default } }
      spec: { providerID: "aws:///us-west-2a/i-1" }
      status: { conditions: [{ type: Ready, status: "False", lastTransitionTime: "2024-11-01T15:00:00Z" }] }
  expect:
    - ${expectation}
`;

const GOOD = '{ write: { verb: delete, resource: nodeclaims }, times: 1 }';
const FILES = {
  'good.yaml': scenario('good', GOOD),
  'bad.yaml': scenario('bad', '{ write: { verb: delete, resource: nodeclaims }, times: 0 }'),
  'crd.yaml': scenario('crd', GOOD).replace(
    '  objects:\n',
    `  objects:
    - apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: { name: drains.example.com }
      spec: { group: example.com, scope: Cluster, names: { plural: drains, kind: Drain }, versions: [{ name: v1, served: false, storage: true }] }
    - { apiVersion: example.com/v1, kind: Drain, metadata: { name: d1 } }
`,
  ),
  'not-served.yaml': `apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: not-served }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 1h
  config: |
    [customDrain]
    enabled = true
    templateFileName = "drain.yaml"
    namespace = "slurm"
    apiGroup = "slurm.example.com"
    version = "v1"
    kind = "SlurmDrainRequest"
    timeout = "30m"
    statusConditionType = "Complete"
    statusConditionStatus = "True"
  templates: { drain.yaml: "spec: {}" }
  objects: [{ apiVersion: v1, kind: Node, metadata: { name: n1 } }]
  steps: [{ at: 1m, busEvent: { source: m, detail-type: HealthEvent, detail: { id: e1, nodeName: n1, isFatal: true } } }]
`,
  'typo.yaml': scenario('typo', GOOD).replace('duration', 'dauer'),
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-simulate-'));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(names: readonly string[], options: SimulateOptions = {}) {
  let out = '';
  let error = '';
  const output = { out: (text: string) => void (out += text), error: (text: string) => void (error += text) };
  const files = names.map(name => join(folder, name));
  return { code: await simulateCommand(files, options, output), out, error };
}

describe('curfew simulate', () => {
  it('says in data and in the last line why a run without an expectation failed: something was refused', async () => {
    const file = 'examples/regressions/a-policy-without-a-block-was-readable-too.yaml';
    const data = await runHere(['simulate', file, '--output', 'json']);
    expect(data.code).toBe(1);
    expect(JSON.parse(data.stdout)).toMatchObject({
      ok: false,
      violations: [],
      refusals: [
        { object: 'NodeLifecyclePolicy policy-1', message: expect.stringContaining('422 Invalid') },
        { object: 'NodeLifecyclePolicy policy-1', message: expect.stringContaining('Unrecognized key') },
      ],
    });
    const text = await runHere(['simulate', file]);
    expect(text.stdout.trimEnd().split('\n').at(-1)).toContain('2 refusals that no expectation names');
  });

  it('prints what happened and what was expected, and exits 0 when everything holds', async () => {
    const { code, out, error } = await run(['good.yaml']);
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(out).toMatch(/15:30:00 +repair +delete nodeclaims n1/);
    expect(out).toMatch(/ok good: 1 of 1 expectations hold/);
  });

  it('says that the custom resource of a drain is not served', async () => {
    const { out } = await run(['not-served.yaml']);
    expect(out).toContain('1 drain failed; 1 waited for a custom drain: SlurmDrainRequest is not served');
    expect(out).not.toContain('nothing happened');
  });

  it('exits 1 and prints each expectation that does not hold, with its place and what was seen', async () => {
    const { code, out } = await run(['bad.yaml']);
    expect(code).toBe(1);
    expect(out).toMatch(/bad\.yaml:\d+: spec\.expect\[0\]: expected no write/);
    expect(out).toMatch(/found 1/);
  });

  it('exits 2 for a file that is not valid, with path, line and reason', async () => {
    const { code, out, error } = await run(['good.yaml', 'typo.yaml']);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(error).toMatch(/typo\.yaml:6:3: error: spec\.dauer: unknown field\n 6 \|   dauer: 1h\n   \|   \^{5}\n/);
  });

  it('exits 2 for an object that cannot be stored, with its place', async () => {
    const { code, error } = await run(['crd.yaml']);
    expect(code).toBe(2);
    expect(error).toMatch(/crd\.yaml:\d+:\d+: error: spec\.objects\[\d\]: .*not usable/);
  });

  it('exits 2 for a file that is not there', async () => {
    const { code, error } = await run(['none.yaml']);
    expect(code).toBe(2);
    expect(error).toMatch(/none\.yaml does not exist/);
  });

  it('prints one line for each of several files, and what failed', async () => {
    const { code, out } = await run(['good.yaml', 'bad.yaml']);
    expect(code).toBe(1);
    const lines = out.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^ok good/);
    expect(lines[1]).toMatch(/^FAILED bad/);
    expect(lines.slice(2).every(line => line.startsWith('    '))).toBe(true);
  });

  it('prints nothing but the trace with --output jsonl', async () => {
    const { code, out, error } = await run(['bad.yaml'], { output: 'jsonl' });
    expect(code).toBe(1);
    const lines = out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as { kind: string });
    expect(lines.at(0)).toMatchObject({ kind: 'trace', version: 1, source: 'simulation', name: 'bad' });
    expect(lines.at(-1)).toMatchObject({ kind: 'end', ok: false });
    expect(new Set(lines.map(({ kind }) => kind))).toEqual(
      new Set(['trace', 'object', 'policy', 'rules', 'instance', 'write', 'event', 'audit', 'actor', 'end']),
    );
    expect(error).toMatch(/expected no write/);
  });

  it('runs every seed of a range, with the same outcome where there are no faults', async () => {
    const { code, out } = await run(['good.yaml'], { seeds: '1..3' });
    expect(code).toBe(0);
    expect(out.trimEnd().split('\n')).toHaveLength(3);
    const traces = await Promise.all(['1', '2'].map(seed => run(['good.yaml'], { seed, output: 'jsonl' })));
    expect(traces[0]?.out).toBe(traces[1]?.out);
  });

  it('says at Ctrl-C what held so far, and ends the run that is under way', async () => {
    const interruption = new AbortController();
    let out = '';
    let error = '';
    const output = {
      out: (text: string) => {
        out += text;
        if (out.trimEnd().split('\n').length === 2) interruption.abort();
      },
      error: (text: string) => (error += text),
    };
    const files = [join(folder, 'good.yaml')];
    const code = await simulateCommand(files, { seeds: '1..5', interrupted: interruption.signal }, output);
    expect({ code, error }).toEqual({ code: 130, error: 'stopped after 2 of 5 runs: all held\n' });
    expect(out.trimEnd().split('\n')).toHaveLength(2);
  });

  it.each([
    [{ seed: 'x' }, '--seed must be a whole number, not "x"\n'],
    [{ seeds: '5' }, '--seeds must be a range A..B, not "5": write 1..5\n'],
    [{ seeds: '3..1' }, '--seeds must be a range A..B, not "3..1": write 1..3\n'],
    [{ seeds: '1-3' }, '--seeds must be a range A..B, not "1-3": write 1..3\n'],
    [{ seeds: 'all' }, '--seeds must be a range A..B, not "all": write 1..50\n'],
    [{ seed: '1', seeds: '1..2' }, 'give either --seed or --seeds, not both\n'],
  ])('refuses %j', async (options, message) => {
    const { code, error } = await run(['good.yaml'], options);
    expect({ code, error }).toEqual({ code: 2, error: message });
  });
});
