/**
 * `curfew simulate`, `curfew validate` and the JSON Schemas for editors agree on what is a valid file. An editor cannot see everything
 * (rules between fields, texts that have to parse), so of its schema only this is asked: that it has nothing against a valid file, and
 * that what it refuses is refused by all.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { simulateCommand } from '../../cli/simulate.ts';
import { validateCommand } from '../../cli/validate.ts';

type Kind = 'policy' | 'rule' | 'config' | 'scenario';
/** `noted`: it is taken as it stands, and was hardly meant so; `simulate` has a note, `validate` a fault. */
type Verdict = 'valid' | 'refused' | 'noted';

const hook = (fields: string): string => `termination: { hooks: [{ name: a, at: before-drain, ${fields} }] }`;

const CASES: readonly (readonly [Verdict, Kind, string])[] = [
  ['valid', 'policy', '{}'],
  ['valid', 'policy', '{ mode: Observe, nodePoolSelector: { matchLabels: { a: b } } }'],
  ['valid', 'policy', '{ repair: {} }'],
  ['valid', 'policy', '{ repair: { defaultTolerationDuration: 30m, maxUnhealthy: 20%, maxConcurrentRepairs: 3 } }'],
  ['valid', 'policy', '{ repair: { zoneOutage: "Off", freeze: { minNodes: 2, share: 50% } } }'],
  ['valid', 'policy', '{ repair: { policies: [{ conditionType: Ready, toleration: 0s }] } }'],
  ['valid', 'policy', '{ repair: { policies: [{ conditionType: Ready, toleration: "0" }] } }'],
  ['valid', 'policy', '{ repair: { actions: [{ type: Reboot, timeout: 5m }, { type: Terminate }] } }'],
  [
    'valid',
    'policy',
    '{ repair: { flapping: { window: 1h, unhealthyFor: 20m }, futility: { repairs: 3, window: 24h } } }',
  ],
  ['valid', 'policy', '{ repairLimits: { maxConcurrentRepairsPerZone: 2, maxConcurrentRepairsPerCluster: 10% } }'],
  ['valid', 'policy', '{ repairLimits: {} }'],
  ['valid', 'policy', '{ drain: {} }'],
  ['valid', 'policy', '{ drain: { maxConcurrent: 20%, deadline: 4h, onDeadline: Force } }'],
  [
    'valid',
    'policy',
    '{ protection: { maxDuration: 24h, warnBefore: 10m, compatibility: Karpenter, namespaces: [{ name: ci, maxDuration: 1h }] } }',
  ],
  ['valid', 'policy', '{ protection: {} }'],
  ['valid', 'policy', '{ termination: {} }'],
  [
    'valid',
    'policy',
    '{ termination: { scope: NodeOnly, finalizerName: example.com/x, terminationGracePeriod: 24h, builtin: Replace } }',
  ],
  ['valid', 'policy', `{ ${hook('event: { detailType: X }, deadline: 10m, onTimeout: Proceed')} }`],
  ['refused', 'policy', '{ mode: Observed }'],
  ['noted', 'policy', '{ mode: null }'],
  ['refused', 'policy', '{ repiar: {} }'],
  ['noted', 'policy', '{ repair: null }'],
  ['refused', 'policy', '{ repair: [] }'],
  ['refused', 'policy', '{ repair: { maxUnhealty: 1 } }'],
  ['refused', 'policy', '{ repair: { maxUnhealthy: -1 } }'],
  ['refused', 'policy', '{ repair: { maxUnhealthy: 150% } }'],
  ['refused', 'policy', '{ repair: { maxUnhealthy: 1.5 } }'],
  ['refused', 'policy', '{ repair: { maxUnhealthy: "20" } }'],
  ['refused', 'policy', '{ repair: { defaultTolerationDuration: 1d } }'],
  ['refused', 'policy', '{ repair: { defaultTolerationDuration: 99999999h } }'],
  ['refused', 'policy', '{ repair: { defaultTolerationDuration: 30 } }'],
  ['refused', 'policy', '{ repair: { policies: [{ conditionType: Ready }] } }'],
  [
    'refused',
    'policy',
    '{ repair: { policies: [{ conditionType: Ready, toleration: 1m }, { conditionType: Ready, toleration: 2m }] } }',
  ],
  ['noted', 'policy', '{ repair: { policies: [{ conditionType: NetworkUnavailabel, toleration: 1m }] } }'],
  [
    'refused',
    'policy',
    '{ repair: { conditions: [{ type: DiskSlow, status: "True", toleration: 1m, reason: "(" }] } }',
  ],
  ['refused', 'policy', '{ repair: { conditions: [{ type: DiskSlow, status: "Yes", toleration: 1m }] } }'],
  ['refused', 'policy', '{ repair: { actions: [] } }'],
  ['refused', 'policy', '{ repair: { actions: [{ type: Terminate }, { type: Reboot }] } }'],
  ['refused', 'policy', '{ repair: { actions: [{ type: CustomResource }] } }'],
  ['refused', 'policy', '{ repair: { actions: [{ type: Reboot, template: x.yaml }] } }'],
  ['refused', 'policy', '{ repair: { actions: [{ type: Reboot, timeout: 0s }] } }'],
  ['refused', 'policy', `{ repair: { actions: [${Array(9).fill('{ type: Reboot }').join(', ')}] } }`],
  ['refused', 'policy', '{ repair: { flapping: { window: 20m, unhealthyFor: 1h } } }'],
  ['refused', 'policy', '{ repair: { futility: { repairs: 0, window: 1h } } }'],
  ['refused', 'policy', '{ repair: { zoneOutage: { share: 101% } } }'],
  ['refused', 'policy', '{ repair: { freeze: true } }'],
  ['refused', 'policy', '{ repair: { nodesWithoutNodeClaim: Always } }'],
  ['refused', 'policy', '{ repairLimits: { maxConcurrentRepairs: 1 } }'],
  ['refused', 'policy', '{ repairLimits: { maxConcurrentRepairsPerZone: 150% } }'],
  ['noted', 'policy', '{ repairLimits: null }'],
  ['refused', 'policy', '{ drain: { maxConcurrent: 0 } }'],
  ['refused', 'policy', '{ drain: { deadline: 4d } }'],
  ['refused', 'policy', '{ drain: { onDeadline: Force } }'],
  ['refused', 'policy', '{ drain: { maxConcurrentDrains: 1 } }'],
  ['noted', 'policy', '{ drain: null }'],
  ['refused', 'policy', '{ protection: { maxDuration: 24 } }'],
  ['refused', 'policy', '{ protection: { maxDuration: 0s } }'],
  ['refused', 'policy', '{ protection: { maxDuration: 1h, warnBefore: 2h } }'],
  [
    'refused',
    'policy',
    '{ protection: { namespaces: [{ name: ci, maxDuration: 1h }, { name: ci, maxDuration: 2h }] } }',
  ],
  ['refused', 'policy', '{ protection: { compatibility: karpenter } }'],
  ['refused', 'policy', '{ termination: { scope: NodesOnly } }'],
  ['refused', 'policy', '{ termination: { finalizerName: cleanup } }'],
  ['refused', 'policy', '{ termination: { finalizerName: karpenter.sh/termination } }'],
  ['refused', 'policy', '{ termination: { terminationGracePeriod: -1m } }'],
  ['refused', 'policy', '{ termination: { terminationGracePeriod: 99999999h } }'],
  ['refused', 'policy', `{ ${hook('event: { detailType: X }, lambda: { functionName: f }')} }`],
  ['refused', 'policy', `{ ${hook('event: { detailType: X }, deadline: 0s')} }`],
  ['refused', 'policy', '{ termination: { hooks: [{ name: A_b, at: before-drain, event: { detailType: X } }] } }'],
  ['refused', 'policy', '{ termination: { hooks: [{ name: a, at: after-drain, event: { detailType: X } }] } }'],
  ['refused', 'policy', '{ nodePoolSelector: { matchLabel: { a: b } } }'],
  ['refused', 'policy', '{ nodePoolSelector: { matchExpressions: [{ key: a, operator: NotIn }] } }'],
  ['refused', 'policy', '{ nodePoolSelector: { matchExpressions: [{ key: a, operator: Is, values: [b] }] } }'],
  [
    'refused',
    'policy',
    `{ termination: { hooks: [${Array.from({ length: 33 }, (_, i) => `{ name: a${i}, at: before-drain, event: { detailType: X } }`).join(', ')}] } }`,
  ],
  ['refused', 'policy', '{ repair: { policies: [{ conditionType: ' + 'a'.repeat(400) + ', toleration: 1m }] } }'],
  [
    'valid',
    'rule',
    '{ version: v1, kind: Thing, group: t.example.com, finalizerName: example.com/x, cleanup: { lambda: { functionName: f } }, deadline: 1h, onDeadline: Release }',
  ],
  [
    'refused',
    'rule',
    '{ version: v1, kind: Thing, group: t.example.com, finalizerName: x, cleanup: { lambda: { functionName: f } } }',
  ],
  ['refused', 'rule', '{ version: v1, kind: Thing, group: t.example.com, finalizerName: example.com/x, cleanup: {} }'],
  [
    'refused',
    'rule',
    '{ version: v1, kind: Thing, group: t.example.com, finalizerName: example.com/x, cleanup: { lambda: { functionName: f } }, deadline: 0s }',
  ],
  [
    'refused',
    'rule',
    '{ version: v1, kind: Thing, group: t.example.com, finalizerName: example.com/x, cleanup: { lambda: { functionName: f } }, deadline: 4d }',
  ],
  [
    'refused',
    'rule',
    '{ version: v1, kind: Thing, group: t.example.com, finalizerName: example.com/x, cleanup: { lambda: { functionName: f } }, onDeadline: Drop }',
  ],
  [
    'refused',
    'rule',
    '{ version: v1, kind: Thing, group: t.example.com, finalizerName: example.com/x, cleanup: { lambdas: {} } }',
  ],
  [
    'refused',
    'rule',
    '{ version: v1, kind: Node, group: "", finalizerName: example.com/x, cleanup: { builtin: { name: None } } }',
  ],
  [
    'refused',
    'rule',
    '{ version: v1, kind: Thing, group: t.example.com, finalizerName: example.com/x, cleanup: { builtin: { name: All } } }',
  ],
  [
    'refused',
    'rule',
    '{ kind: Thing, group: t.example.com, finalizerName: example.com/x, cleanup: { builtin: { name: None } } }',
  ],
  ['valid', 'config', ''],
  ['valid', 'config', '[featureGates]\nnodeRepair = true\n'],
  ['valid', 'config', '[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n'],
  ['valid', 'config', 'evictionTimeoutInSeconds = "60"\n'],
  ['refused', 'config', '[featureGate]\nnodeRepair = true\n'],
  ['refused', 'config', '[featureGates]\nnodeRepairs = true\n'],
  ['refused', 'config', '[featureGates]\nnodeRepair = "true"\n'],
  ['refused', 'config', '[[userNamespaces]]\nname = "*"\nmode = "immediate"\n'],
  ['refused', 'config', '[customDrain]\nenabled = true\n'],
  ['refused', 'config', '[broken'],
  ['refused', 'config', 'evictionTimeoutInSeconds = "-5"\n'],
  ['refused', 'config', 'evictionTimeoutInSeconds = "99999999999999999999"\n'],
  ['valid', 'scenario', 'duration: 1h'],
  ['valid', 'scenario', 'duration: 1h\n  actors: []'],
  [
    'valid',
    'scenario',
    'duration: 90s\n  expect: [{ at: 0, within: 0s, audit: { function: repair, decision: blocked, details: { any: 1 } } , times: 0 }]',
  ],
  ['valid', 'scenario', 'duration: 1h\n  steps: [{ at: 0, restart: forwarder }]'],
  ['refused', 'scenario', 'duraton: 1h'],
  ['refused', 'scenario', 'duration: 1d'],
  ['refused', 'scenario', 'duration: 5'],
  ['refused', 'scenario', 'duration: -5m'],
  ['refused', 'scenario', 'duration: 0s'],
  ['refused', 'scenario', 'duration: 9000h'],
  ['refused', 'scenario', 'duration: 1h\n  actors: [kubelets]'],
  ['refused', 'scenario', 'duration: 1h\n  steps: [{ at: 1m }]'],
  ['refused', 'scenario', 'duration: 1h\n  steps: [{ at: 2h, restart: forwarder }]'],
  ['refused', 'scenario', 'duration: 1h\n  steps: [{ at: 1m, restart: forwarders }]'],
  ['refused', 'scenario', 'duration: 1h\n  steps: [{ at: 1m, restart: forwarder, outage: { of: api, for: 1m } }]'],
  ['refused', 'scenario', 'duration: 1h\n  steps: [{ at: 1m, cloud: { providerID: x } }]'],
  ['refused', 'scenario', 'duration: 1h\n  expect: [{ audit: { function: repiar } }]'],
  ['refused', 'scenario', 'duration: 1h\n  expect: [{ audit: { decision: blokced } }]'],
  ['refused', 'scenario', 'duration: 1h\n  expect: [{ audit: { function: drain, decision: vetoed } }]'],
  ['refused', 'scenario', 'duration: 1h\n  expect: [{ event: { reason: DrainHold } }]'],
  ['refused', 'scenario', 'duration: 1h\n  expect: [{ final: { resource: nodes } }]'],
  ['refused', 'scenario', 'duration: 1h\n  expect: [{ write: {}, times: { min: 2, max: 1 } }]'],
  ['refused', 'scenario', 'duration: 1h\n  expect: [{ write: {}, times: -1 }]'],
  ['refused', 'scenario', 'duration: 1h\n  expect: [{ write: {}, within: 1m }]'],
  ['refused', 'scenario', 'duration: 1h\n  objects: [{ apiVersion: v1, kind: Knode, metadata: { name: x } }]'],
  ['refused', 'scenario', 'duration: 1h\n  objects: [{ apiVersion: v1, kind: Node, metadata: {} }]'],
  [
    'refused',
    'scenario',
    'duration: 1h\n  objects: [{ apiVersion: v1, kind: Node, metadata: { name: x, labels: { a: 1 } } }]',
  ],
  ['refused', 'scenario', 'duration: 1h\n  start: yesterday'],
];

const schemaOf = (name: string): z.ZodType =>
  z.fromJSONSchema(
    JSON.parse(readFileSync(`deploy/schemas/${name}.schema.json`, 'utf8')) as z.core.JSONSchema.JSONSchema,
  );
const SCHEMAS: Readonly<Record<Kind, z.ZodType>> = {
  policy: schemaOf('nodelifecyclepolicy'),
  rule: schemaOf('finalizerrule'),
  config: schemaOf('config'),
  scenario: schemaOf('scenario'),
};

const scenario = (lines: string): string => {
  const start = /^ *start:/m.test(lines) ? '' : '  start: "2024-11-01T15:00:00Z"\n';
  return `apiVersion: curfew.dev/v1alpha1\nkind: Scenario\nmetadata: { name: s }\nspec:\n${start}  ${lines}\n`;
};
const object = (kind: 'policy' | 'rule', spec: string): string =>
  `{ apiVersion: curfew.dev/v1alpha1, kind: ${kind === 'policy' ? 'NodeLifecyclePolicy' : 'FinalizerRule'}, metadata: { name: p }, spec: ${spec} }`;
const THINGS = `    - apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: { name: things.t.example.com }
      spec:
        group: t.example.com
        scope: Namespaced
        names: { plural: things, kind: Thing }
        versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]`;
const GATE = JSON.stringify('[featureGates]\nnodeRepair = true\n');

/** The file by itself, and as part of a scenario. */
function filesOf(kind: Kind, text: string): { readonly own: string; readonly simulated: string } {
  if (kind === 'scenario') return { own: scenario(text), simulated: scenario(text) };
  if (kind === 'config') {
    return { own: text, simulated: scenario(`duration: 90s\n  config: ${JSON.stringify(text)}`) };
  }
  const own = object(kind, text);
  return {
    own: `${own}\n`,
    simulated: scenario(`duration: 90s\n  config: ${GATE}\n  objects:\n${THINGS}\n    - ${own}`),
  };
}

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-agreement-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function editorAccepts(kind: Kind, own: string): boolean {
  try {
    return SCHEMAS[kind].safeParse(kind === 'config' ? parseToml(own) : parse(own)).success;
  } catch {
    return false;
  }
}

const simulatedVerdict = (code: number, printed: string): Verdict =>
  code !== 0 ? 'refused' : printed.includes(': note: ') ? 'noted' : 'valid';

describe('simulate, validate and the editor agree', () => {
  it.each(CASES)('%s %s: %s', async (verdict, kind, text) => {
    const { own, simulated } = filesOf(kind, text);
    const file = join(folder, kind === 'config' ? 'own.toml' : 'own.yaml');
    writeFileSync(file, own);
    writeFileSync(join(folder, 'scenario.yaml'), simulated);
    let printed = '';
    const silent = { out: () => undefined, error: () => undefined };
    const validated = await validateCommand([file], {}, silent);
    const code = await simulateCommand(
      [join(folder, 'scenario.yaml')],
      { output: 'jsonl' },
      { ...silent, error: line => void (printed += line) },
    );
    expect([validated === 0 ? 'valid' : 'refused', simulatedVerdict(code, printed)]).toEqual([
      verdict === 'noted' ? 'refused' : verdict,
      verdict,
    ]);
    if (verdict === 'valid') expect(editorAccepts(kind, own)).toBe(true);
    if (!editorAccepts(kind, own)) expect(verdict).not.toBe('valid');
  });
});
