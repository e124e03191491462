/** The table "who drains, who ends the instance, what a hook can hold" of docs/terminations.md, held to what a simulated cluster does. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { HOOK_POINTS, type HookPoint } from '../../shared/domain/termination.ts';
import { runScenario } from '../../simulator/run.ts';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import { clusterCatalog } from '../../simulator/world.ts';

interface Row {
  readonly builtin: string;
  readonly karpenter: string;
  readonly drains: string;
  readonly ends: string;
  readonly holds: string;
}

const document = readFileSync(new URL('../../docs/terminations.md', import.meta.url), 'utf8');
const rows = [...document.matchAll(/^\| (`(?:Keep|Replace)`[^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|$/gm)].map(
  ([, ...cells]): Row => {
    const [builtin = '', karpenter = '', drains = '', ends = '', holds = ''] = cells.map(cell => cell.trim());
    return { builtin, karpenter, drains, ends, holds };
  },
);
const [besideKarpenter] = rows;

/** A hook that never answers and would hold the termination, at one point, half an hour after the deletion. */
async function halfAnHourLater(builtin: string, isKarpenters: boolean, at: HookPoint) {
  const finalizers = isKarpenters ? ', finalizers: [karpenter.sh/termination]' : '';
  const text = `
apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: row }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 31m
  objects:
    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default }, spec: { disruption: {} } }
    - apiVersion: curfew.dev/v1alpha1
      kind: NodeLifecyclePolicy
      metadata: { name: edge }
      spec: { termination: { builtin: ${builtin}, hooks: [{ name: h, at: ${at}, lambda: { functionName: f }, deadline: 10h, onTimeout: Abort }] } }
    - { apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: nc1, labels: { karpenter.sh/nodepool: default }${finalizers} }, status: { providerID: "aws:///us-west-2a/i-0abc", nodeName: n1 } }
    - { apiVersion: v1, kind: Node, metadata: { name: n1, labels: { karpenter.sh/nodepool: default }${finalizers} }, spec: { providerID: "aws:///us-west-2a/i-0abc" }, status: { conditions: [{ type: Ready, status: "True", lastTransitionTime: "2024-11-01T15:00:00Z" }] } }
    - { apiVersion: v1, kind: Pod, metadata: { name: web-0, namespace: default }, spec: { nodeName: n1, containers: [{ name: c, image: i }] }, status: { phase: Running } }
  steps:
    - { at: 0s, hook: { name: h, result: silent } }
    - { at: 1m, delete: { resource: nodeclaims, name: nc1 } }
  expect:
    - { write: { by: finalizer, verb: evict, name: web-0 } }
    - { write: { by: finalizer, verb: terminate } }
    - { final: { instance: "aws:///us-west-2a/i-0abc", state: running } }
    - { final: { resource: nodeclaims, name: nc1 } }
    - { event: { type: Warning, reason: HooksDoNotHold, kind: NodeLifecyclePolicy, name: edge } }
    - { event: { type: Warning, reason: ReplaceNotInForce, kind: NodeLifecyclePolicy, name: edge } }
    - { write: { verb: invoke, resource: hooks, name: h }, times: 1 }
`;
  const parsed = parseScenarios(text, 'row.yaml', clusterCatalog());
  const scenario = parsed.ok ? parsed.scenarios[0] : undefined;
  if (scenario === undefined) throw new Error(JSON.stringify(parsed));
  const { verdicts, violations } = await runScenario(scenario, {});
  expect(violations).toEqual([]);
  const [curfewEvicts, curfewEnds, runs, claimStays, hooksWarned, replaceWarned, calledOnce] = verdicts.map(
    ({ holds }) => holds,
  );
  return { curfewEvicts, curfewEnds, runs, claimStays, hooksWarned, replaceWarned, calledOnce };
}

describe('docs/terminations.md: who drains, who ends the instance, what a hook can hold', () => {
  it('has a row for Keep and Replace, with and without Karpenter', () => {
    expect(rows.map(({ builtin, karpenter }) => [builtin.slice(0, 6), karpenter.slice(0, 2)])).toEqual([
      ['`Keep`', 'ye'],
      ['`Keep`', 'no'],
      ['`Repla', 'no'],
      ['`Repla', 'ye'],
    ]);
  });

  const cases = rows.flatMap(row => HOOK_POINTS.map(at => [row.builtin, row.karpenter, at, row] as const));
  it.each(cases)('%s, %s: a hook %s', async (_, __, at, row) => {
    // "as `Keep` with it" is the first row.
    const said = row.holds.startsWith('as `Keep`') ? (besideKarpenter ?? row) : row;
    const isKarpenters = row.karpenter.startsWith('yes');
    const builtin = row.builtin.startsWith('`Keep`') ? 'Keep' : 'Replace';
    const seen = await halfAnHourLater(builtin, isKarpenters, at);
    const isHeld = said.holds.startsWith('every hook') || at === 'after-terminate';
    expect(said.ends).toBe(isKarpenters ? 'Karpenter' : 'Curfew');
    expect(said.drains).toBe(isKarpenters ? 'Karpenter, and Curfew beside it' : 'Curfew');
    expect(seen.calledOnce).toBe(true);
    // What is held at its point goes no further.
    expect(seen.runs).toBe(isHeld && at !== 'after-terminate');
    expect(seen.claimStays).toBe(isHeld);
    // Beside Karpenter whoever asks first evicts.
    if (!isKarpenters) expect(seen.curfewEvicts).toBe(at !== 'before-drain');
    expect(seen.curfewEnds).toBe(!isKarpenters && at === 'after-terminate');
    expect(seen.hooksWarned).toBe(isKarpenters && builtin === 'Keep' && at !== 'after-terminate');
    expect(seen.replaceWarned).toBe(isKarpenters && builtin === 'Replace');
  });
});
