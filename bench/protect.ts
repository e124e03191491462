/**
 * Limited protection on the deployed path: how late a pod's Event about the end of its protection is, how late its node is
 * released, and how many DynamoDB writes the life of a protected pod costs.
 */
import { startLocalStack } from '../cli/start/local-stack.ts';
import { EVENT_REASONS } from '../shared/contract/reasons.ts';
import { KARPENTER } from '../shared/contract/names.ts';
import { systemClock } from '../shared/adapters/system-clock.ts';
import { seconds, toEpochMs, toTimestamp } from '../shared/domain/time.ts';
import type { ObservedWrite } from '../packages/kube-apiserver/src/types.ts';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { percentile } from './measure/statistics.ts';
import { startWriteCounter } from './protect/write-counter.ts';
import { atMost, numberRow } from './report/row.ts';

const LATENESS_MAX_MS = 2000;
/** The first protection ends this long after the pods appear, so that every one is armed by then. */
const FIRST_END_MS = 20_000;
const POLL = seconds(0.2);

interface Plan {
  readonly nodes: number;
  readonly podsPerNode: number;
  /** The protections end at instants spread over this window. */
  readonly windowMs: number;
}

const FULL: Plan = { nodes: 50, podsPerNode: 6, windowMs: 60_000 };
const QUICK: Plan = { nodes: 5, podsPerNode: 2, windowMs: 10_000 };

export const protect: Bench = {
  summary: 'lateness of the end of a protection, and its DynamoDB writes',
  runsOnControlPlane: false,
  run: runProtect,
};

async function runProtect({ quick, progress }: BenchContext): Promise<BenchOutcome> {
  const plan = quick ? QUICK : FULL;
  await using parts = new AsyncDisposableStack();
  const counter = await startWriteCounter();
  parts.defer(() => counter.close());
  const problems: string[] = [];
  const stack = await startLocalStack({
    onProblem: problem => problems.push(problem),
    extraEnv: { AWS_ENDPOINT_URL_DYNAMODB: counter.url },
  });
  parts.defer(() => stack.stop());
  counter.forwardTo(stack.aws.endpoints.dynamoDb);

  const { core } = stack.cluster;
  const elapsed = new Map<string, number>();
  const released = new Map<string, number>();
  core.observe(write => {
    const pod = elapsedPod(write);
    if (pod !== undefined && !elapsed.has(pod)) elapsed.set(pod, systemClock.now());
    if (isRelease(write)) released.set(write.ref.name, systemClock.now());
  });

  core.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'default' } });
  const created = Math.floor(systemClock.now() / 1000) * 1000;
  const ends = new Map<string, number>();
  const lastEnds = new Map<string, number>();
  for (let node = 0; node < plan.nodes; node++) {
    const nodeName = `node-${node}`;
    core.seed({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: nodeName, labels: { [KARPENTER.nodePoolLabel]: 'default' } },
    });
    for (let pod = 0; pod < plan.podsPerNode; pod++) {
      const position = (pod * plan.nodes + node) / (plan.nodes * plan.podsPerNode);
      const protectionMs = Math.floor(FIRST_END_MS + position * plan.windowMs);
      const name = `pod-${node}-${pod}`;
      core.seed({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name,
          namespace: 'default',
          creationTimestamp: toTimestamp(toEpochMs(created)),
          annotations: { [KARPENTER.doNotDisruptAnnotation]: `${protectionMs}ms` },
        },
        spec: { nodeName, containers: [{ name: 'main', image: 'main' }] },
        status: { phase: 'Running' },
      });
      ends.set(name, created + protectionMs);
      lastEnds.set(nodeName, Math.max(lastEnds.get(nodeName) ?? 0, created + protectionMs));
    }
  }

  const giveUp = created + FIRST_END_MS + plan.windowMs + 30_000;
  while ((elapsed.size < ends.size || released.size < lastEnds.size) && systemClock.now() < giveUp) {
    progress.say('protect: waiting for protections to end', { done: elapsed.size, of: ends.size });
    await systemClock.sleep(POLL);
  }
  const lateness = latenessOf(ends, elapsed);
  const releaseLateness = latenessOf(lastEnds, released);
  const writesPerPod = counter.writes() / ends.size;
  return {
    settings: { ...plan, problems },
    rows: [
      numberRow({ name: 'pods without their Event', unit: '1', ours: ends.size - elapsed.size, limit: atMost(0) }),
      numberRow({
        name: 'Event before the end',
        unit: '1',
        ours: lateness.filter(ms => ms < 0).length,
        limit: atMost(0),
      }),
      numberRow({ name: 'Event late, p50', unit: 'ms', ours: percentile(lateness, 50) }),
      numberRow({
        name: 'Event late, p99',
        unit: 'ms',
        ours: percentile(lateness, 99),
        limit: atMost(LATENESS_MAX_MS),
      }),
      numberRow({ name: 'nodes not released', unit: '1', ours: lastEnds.size - released.size, limit: atMost(0) }),
      numberRow({
        name: 'release late, p99',
        unit: 'ms',
        ours: percentile(releaseLateness, 99),
        limit: atMost(LATENESS_MAX_MS),
      }),
      numberRow({ name: 'DynamoDB writes per pod life', unit: '1', ours: writesPerPod }),
    ],
    samples: { lateness, releaseLateness, writes: counter.writes() },
  };
}

function latenessOf(due: ReadonlyMap<string, number>, happened: ReadonlyMap<string, number>): readonly number[] {
  return [...happened].flatMap(([name, time]) => {
    const end = due.get(name);
    return end === undefined ? [] : [time - end];
  });
}

/** The pod that an Event says was protected until now. */
function elapsedPod({ verb, resource, after }: ObservedWrite): string | undefined {
  if (verb !== 'create' || resource.kind !== 'Event') return undefined;
  if (after === undefined || after['reason'] !== EVENT_REASONS.protectionElapsed) return undefined;
  const about = after['involvedObject'];
  return typeof about === 'object' && about !== null && 'name' in about && typeof about.name === 'string'
    ? about.name
    : undefined;
}

/** Our annotation goes off a node. */
function isRelease({ resource, before, after }: ObservedWrite): boolean {
  const held = (object: ObservedWrite['before']): boolean =>
    object?.metadata.annotations?.[KARPENTER.doNotDisruptAnnotation] !== undefined;
  return resource.kind === 'Node' && held(before) && !held(after);
}
