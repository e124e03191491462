/**
 * The drill of docs/runbook.md, "Restoring the table": all records and all messages go in the middle of something, and `curfew republish` is what an
 * operator has. What was begun ends, and what was answered is not done again.
 */
import { describe, expect, it } from 'vitest';
import { RECONCILERS } from '../../runtime/functions.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { addDuration, minutes, seconds, toIsoText, type EpochMs } from '../../shared/domain/time.ts';
import { withDueIndex } from '../../simulator/due-index.ts';
import { runScenario, type RunOptions } from '../../simulator/run.ts';
import type { SimulatedParts } from '../../simulator/parts.ts';
import { complaints, scenario } from './simulate.ts';

/** From `wiped` until `republished` nothing is delivered: what was in the inboxes is gone, timers with the table. */
function loseAll(wiped: EpochMs, republished: EpochMs): RunOptions {
  let now = wiped;
  const [before, after] = [withDueIndex(createMemoryRecordStore()), withDueIndex(createMemoryRecordStore())];
  const current = () => (now >= wiped ? after : before);
  const isLost = (): boolean => now >= wiped && now < republished;
  const parts = (made: SimulatedParts): SimulatedParts => ({
    ...made,
    store: {
      ...made.store,
      records: {
        get: key => current().records.get(key),
        put: (record, version) => current().records.put(record, version),
        delete: (key, version) => current().records.delete(key, version),
      },
      dueIndex: {
        shardCount: before.dueIndex.shardCount,
        queryDue: (...query) => current().dueIndex.queryDue(...query),
      },
    },
  });
  const reconcilers = Object.fromEntries(
    FUNCTION_NAMES.map(name => [
      name,
      (deps: never) => {
        const reconcile = RECONCILERS[name](deps);
        return async (message: Parameters<typeof reconcile>[0]) => {
          if (!isLost()) await reconcile(message);
        };
      },
    ]),
  );
  return { parts, reconcilers, onProgress: at => void (now = at) };
}

const START = Date.UTC(2024, 10, 1, 15) as EpochMs;
const after = (...durations: Parameters<typeof addDuration>[1][]): EpochMs => durations.reduce(addDuration, START);
const republishAt = (time: EpochMs): string =>
  `    - { at: "${toIsoText(time)}", patch: { resource: configmaps, namespace: curfew, name: curfew-config, merge: { metadata: { annotations: { curfew.dev/republish: "${toIsoText(time)}" } } } } }`;

const CONFIG = '  config: "[[userNamespaces]]\\nname = \\"*\\"\\nmode = \\"Immediate\\"\\n"\n';

/** A NodeClaim that is deleted at 1m, its Node, a protected pod: it ends by its deadline, 5 minutes later. */
const TERMINATION = `${CONFIG}  objects:
    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default }, spec: { disruption: { customFinalizerName: example.com/custom, terminationGracePeriodSeconds: 300 } } }
    - apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: { name: nc1, labels: { karpenter.sh/nodepool: default } }
      status: { providerID: "aws:///us-west-2a/i-0abc", nodeName: n1 }
    - apiVersion: v1
      kind: Node
      metadata: { name: n1, labels: { karpenter.sh/nodepool: default } }
      spec: { providerID: "aws:///us-west-2a/i-0abc" }
      status: { conditions: [{ type: Ready, status: "True", lastTransitionTime: "2024-11-01T15:00:00Z" }] }
    - apiVersion: v1
      kind: Pod
      metadata: { name: held, namespace: prod, annotations: { karpenter.sh/do-not-disrupt: "true" } }
      spec: { nodeName: n1, terminationGracePeriodSeconds: 60, containers: [{ name: c, image: i }] }
      status: { phase: Running }
`;

describe('when table and inboxes are wiped', () => {
  it('nothing finishes a termination by itself, and republish does within a minute, by the deadline that it had', async () => {
    const republished = after(minutes(8));
    const spec = `${TERMINATION}  duration: 15m
  steps:
    - { at: 1m, delete: { resource: nodeclaims, name: nc1 } }
${republishAt(republished)}
  expect:
    - { before: 8m, write: { by: finalizer, verb: terminate, resource: instances }, times: 0 }
    - { before: 8m, write: { by: finalizer, verb: delete, resource: pods }, times: 0 }
    - { at: 8m, within: 60s, write: { by: finalizer, verb: terminate, resource: instances }, times: 1 }
    - { write: { verb: terminate, resource: instances }, times: 1 }
    - { final: { resource: nodeclaims, name: nc1, exists: false } }
    - { final: { resource: nodes, name: n1, exists: false } }
    - { final: { instance: "aws:///us-west-2a/i-0abc", state: terminated } }
`;
    const result = await runScenario(scenario(spec), loseAll(after(minutes(2)), republished));
    expect(complaints(result)).toEqual([]);
  });

  it('a protection holds until the deadline where republish comes before it', async () => {
    const republished = after(minutes(3));
    const spec = `${TERMINATION}  duration: 15m
  steps:
    - { at: 1m, delete: { resource: nodeclaims, name: nc1 } }
${republishAt(republished)}
  expect:
    - { before: 5m, write: { verb: delete, resource: pods }, times: 0 }
    - { at: 5m, within: 2s, write: { verb: delete, resource: pods, name: held, gracePeriodSeconds: 60 } }
    - { final: { instance: "aws:///us-west-2a/i-0abc", state: terminated } }
`;
    const result = await runScenario(scenario(spec), loseAll(after(minutes(2)), republished));
    expect(complaints(result)).toEqual([]);
  });

  it('no answered drain is begun again, though its request still stands on the Node and pods have come since', async () => {
    const republished = after(minutes(5));
    const spec = `${CONFIG}  duration: 1h
  actors: [kubelet, disruption]
  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: n1 } }
    - { apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: a }, spec: { nodeName: n1 } }
  steps:
    - { at: 1m, patch: { resource: nodes, name: n1, merge: { metadata: { annotations: { curfew.dev/drain-requested: maintenance-7 } } } } }
    - { at: 4m, apply: { apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: later }, spec: { nodeName: n1 } } }
${republishAt(republished)}
  expect:
    - { audit: { function: drain, decision: begin }, times: 1 }
    - { audit: { function: drain, decision: end, details: { id: maintenance-7, status: Succeeded } }, times: 1 }
    - { write: { by: drain, verb: evict }, times: 1 }
    - { final: { resource: pods, namespace: ml, name: later, exists: true } }
    - { final: { resource: nodes, name: n1, match: { spec: { unschedulable: true } } } }
`;
    const result = await runScenario(scenario(spec), loseAll(after(minutes(2), seconds(30)), republished));
    expect(complaints(result)).toEqual([]);
  });

  it('a drain under way goes on from what the Node says', async () => {
    const republished = after(minutes(5));
    const spec = `${CONFIG.replace('Immediate', 'AllowCompletion')}  duration: 1h
  actors: [kubelet, disruption]
  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: n1 } }
    - { apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: a, annotations: { sim.curfew.dev/stops-after: never } }, spec: { nodeName: n1 }, status: { phase: Running } }
  steps:
    - { at: 1m, patch: { resource: nodes, name: n1, merge: { metadata: { annotations: { curfew.dev/drain-requested: maintenance-7 } } } } }
${republishAt(republished)}
    - { at: 10m, patch: { resource: pods, namespace: ml, name: a, merge: { status: { phase: Succeeded } } } }
  expect:
    - { before: 5m, audit: { function: drain, decision: end }, times: 0 }
    - { after: 10m, audit: { function: drain, decision: end, details: { id: maintenance-7, status: Succeeded } }, times: 1 }
    - { final: { resource: nodes, name: n1, match: { spec: { unschedulable: true } } } }
`;
    const result = await runScenario(scenario(spec), loseAll(after(minutes(2)), republished));
    expect(complaints(result)).toEqual([]);
  });

  describe('in the middle of a repair ladder', () => {
    /** A GPU that fails at 10m: the node is rebooted at 15m. */
    const ladder = (attempts: number, steps: string, expected: string): string =>
      `  config: "[featureGates]\\nnodeRepair = true\\n"
  duration: 2h
  objects:
    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: gpu }, spec: { repair: { maxUnhealthy: 100%, conditions: [{ type: GpuFault, status: "True", toleration: 5m }], actions: [{ type: Reboot, timeout: 10m, attempts: ${attempts} }, { type: Terminate }] } } }
  nodes:
    - { pool: gpu, count: 2 }
  steps:
    - { at: 10m, condition: { node: gpu-0, type: GpuFault, status: "True" } }
${steps}
  expect:
    - { at: 15m, write: { by: repair, verb: reboot, resource: instances, name: "aws:///us-west-2a/i-gpu-0" }, times: 1 }
    - { write: { verb: delete, resource: nodeclaims, name: gpu-0 }, times: 1 }
    - { write: { verb: delete, resource: nodeclaims }, times: 1 }
${expected}`;
    const LOST = after(minutes(16));

    it('a node is not rebooted beyond its allowance, which stands on it, and the next action follows within a minute', async () => {
      const spec = ladder(
        1,
        republishAt(after(minutes(40))),
        `    - { write: { verb: reboot, resource: instances }, times: 1 }
    - { before: 40m, write: { verb: delete, resource: nodeclaims }, times: 0 }
    - { at: 40m, within: 60s, write: { by: repair, verb: delete, resource: nodeclaims, name: gpu-0 }, times: 1 }
`,
      );
      const result = await runScenario(scenario(spec), loseAll(LOST, after(minutes(40))));
      expect(complaints(result)).toEqual([]);
    });

    it('what is left of the allowance is used within a minute', async () => {
      const spec = ladder(
        2,
        republishAt(after(minutes(40))),
        `    - { write: { verb: reboot, resource: instances }, times: 2 }
    - { at: 40m, within: 60s, write: { by: repair, verb: reboot, resource: instances }, times: 1 }
    - { at: 50m, within: 90s, write: { by: repair, verb: delete, resource: nodeclaims, name: gpu-0 }, times: 1 }
`,
      );
      const result = await runScenario(scenario(spec), loseAll(LOST, after(minutes(40))));
      expect(complaints(result)).toEqual([]);
    });

    it('without the annotations of Node and NodeClaim it would be rebooted again', async () => {
      const unmarked = ['nodes', 'nodeclaims']
        .map(
          resource =>
            `    - { at: 30m, patch: { resource: ${resource}, name: gpu-0, merge: { metadata: { annotations: { curfew.dev/last-reboot: null } } } } }\n`,
        )
        .join('');
      const spec = ladder(
        1,
        unmarked + republishAt(after(minutes(40))),
        '    - { at: 40m, within: 60s, write: { by: repair, verb: reboot, resource: instances }, times: 1 }\n',
      );
      const result = await runScenario(scenario(spec), loseAll(LOST, after(minutes(40))));
      expect(result.verdicts.filter(({ holds }) => !holds)).toEqual([]);
    });

    it('a republish while the machine still comes back does not reboot it once more', async () => {
      const spec = ladder(
        1,
        republishAt(after(minutes(17))),
        '    - { write: { verb: reboot, resource: instances }, times: 1 }\n',
      );
      const result = await runScenario(scenario(spec), loseAll(LOST, after(minutes(17))));
      expect(complaints(result)).toEqual([]);
    });
  });
});
