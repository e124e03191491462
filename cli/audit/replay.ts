/**
 * What other policies would have made of a day that was: a scenario with the nodes of the day, which fall ill and recover as they did.
 * A node that went stays as ill as it was last, since nobody knows whether it would have recovered.
 */
import type { Bar, Day, Lane } from '../../packages/timeline/src/day/types.ts';
import type { TraceLine } from '../../packages/timeline/src/trace/lines.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { traceOf } from '../../simulator/checked-trace.ts';
import { formatFault } from '../../simulator/report.ts';
import { runScenario } from '../../simulator/run.ts';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import { clusterCatalog } from '../../simulator/world.ts';
import { withObjects } from '../compare.ts';
import { UsageError } from '../usage-error.ts';

/** @param policies manifests: policies and NodePools. Throws `UsageError`. */
export async function replayOf(
  day: Day,
  policies: readonly KubernetesObject[],
  file: string,
): Promise<readonly TraceLine[]> {
  const parsed = parseScenarios(JSON.stringify(scenarioOf(day)), `${file} (replay)`, clusterCatalog());
  if (!parsed.ok) throw new UsageError(parsed.faults.map(formatFault).join('\n'));
  const [scenario] = parsed.scenarios;
  if (scenario === undefined) throw new UsageError(`${file} has no nodes to replay`);
  return traceOf(await runScenario(withObjects(scenario, policies, file), { recordsObjects: true }));
}

function scenarioOf({ start, end, lanes, header }: Day): object {
  const iso = (time: number): string => new Date(time).toISOString();
  const pools = [...new Set(lanes.map(({ pool }) => pool))].filter(pool => pool !== '');
  return {
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'Scenario',
    metadata: {
      name: `replay-of-${header.name
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')
        .replaceAll(/^-|-$/g, '')}`,
    },
    spec: {
      start: iso(start),
      duration: `${Math.max(1, Math.ceil((end - start) / 1000))}s`,
      config: '[featureGates]\nnodeRepair = true\n',
      objects: [
        ...pools.map(name => ({
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodePool',
          metadata: { name, labels: { pool: name } },
        })),
        ...lanes.flatMap(lane => objectsOf(lane, iso(start))),
      ],
      steps: lanes.flatMap(lane => stepsOf(lane, iso)),
    },
  };
}

function objectsOf({ name, pool, zone }: Lane, since: string): readonly object[] {
  const providerID = `aws:///${zone === '' ? 'us-west-2a' : zone}/i-${name}`;
  const labels = {
    ...(pool !== '' && { 'karpenter.sh/nodepool': pool }),
    ...(zone !== '' && { 'topology.kubernetes.io/zone': zone }),
  };
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: { providerID },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] },
  };
  if (pool === '') return [node];
  const claim = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: `${name}-nc`, labels, finalizers: ['karpenter.sh/termination'] },
    spec: {},
    status: { nodeName: name, providerID },
  };
  return [claim, node];
}

/** What is the healthy status of a condition that was unhealthy. */
const healthy = (status: string): string => (status === 'True' ? 'False' : 'True');

function stepsOf({ name, bars, end }: Lane, iso: (time: number) => string): readonly object[] {
  const set = (time: number, bar: Bar, isIll: boolean): object => {
    const [type = 'Ready', status = 'False'] = bar.label.split('=');
    return {
      at: iso(time),
      condition: { node: name, type, status: isIll ? status : healthy(status), reason: 'Replayed' },
    };
  };
  return bars
    .filter(({ kind }) => kind === 'unhealthy')
    .flatMap(bar => [
      set(bar.from, bar, true),
      ...(bar.isOpen || bar.to === end?.time ? [] : [set(bar.to, bar, false)]),
    ]);
}
