/** Two runs side by side: what differs, in numbers and by node. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runHere } from './run-curfew.ts';

const policy = (toleration: string): string => `apiVersion: curfew.dev/v1alpha1
kind: NodeLifecyclePolicy
metadata: { name: web }
spec: { nodePoolSelector: {}, mode: Enforce, repair: { defaultTolerationDuration: ${toleration}, maxUnhealthy: 100% } }
`;
const scenario = (toleration: string): string => `apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: day }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 1h
  config: "[featureGates]\\nnodeRepair = true\\n"
  nodes: [{ pool: web, count: 3 }]
  objects:
    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: web } }
    - { apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: web }, spec: { nodePoolSelector: {}, mode: Enforce, repair: { defaultTolerationDuration: ${toleration}, maxUnhealthy: 100% } } }
  steps:
    - { at: 1m, condition: { node: web-0, type: Ready, status: "False" } }
    - { at: 21m, condition: { node: web-0, type: Ready, status: "True" } }
`;
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-compare-'));
  writeFileSync(join(folder, 'a.yaml'), scenario('30m'));
  writeFileSync(join(folder, 'b.yaml'), scenario('10m'));
  writeFileSync(join(folder, 'old.yaml'), policy('30m'));
  writeFileSync(join(folder, 'new.yaml'), policy('10m'));
});
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

it('names the setting that differs, and what it changes', async () => {
  const { code, stdout, stderr } = await runHere(['compare', at('a.yaml'), at('b.yaml')]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [sentence, , a, b] = stdout.split('\n');
  expect(sentence).toBe('30m → 10m: 1 more terminated by repair');
  expect(a).toBe('  A  30m: 1 h, 3 nodes: 1 node unhealthy, nothing had to be done');
  expect(b).toBe('  B  10m: 1 h, 3 nodes: 1 terminated by repair');
  expect(stdout).toMatch(/web-0 +nothing was done +Terminate 15:11:00 to 15:11:05, terminated by repair/);
});

it('compares two policies on one scenario, as JSON too', async () => {
  const { code, stdout } = await runHere([
    'compare',
    at('a.yaml'),
    '--policies',
    at('old.yaml'),
    at('new.yaml'),
    '--output',
    'json',
  ]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    sentence: '30m → 10m: 1 more terminated by repair',
    nodes: ['web-0'],
    differences: [
      { title: 'terminated by repair', a: '0', b: '1', nodes: ['web-0'] },
      { title: 'web-0', a: 'nothing was done' },
    ],
  });
});

it('says that nothing differs', async () => {
  const { stdout } = await runHere(['compare', at('a.yaml'), at('a.yaml')]);
  expect(stdout.split('\n')[0]).toMatch(/: nothing differs$/);
});

it.each([
  [['compare', 'a.yaml'], 'compare takes two scenarios, or one with two --policies'],
  [['compare', 'a.yaml', 'none.yaml'], 'none.yaml does not exist'],
  [['compare', 'a.yaml', '--policies', 'old.yaml', 'none.yaml'], 'none.yaml'],
])('exits 2 for %j, and says what is wrong', async (args, message) => {
  const { code, stderr } = await runHere(args.map(each => (each.endsWith('.yaml') ? at(each) : each)));
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
