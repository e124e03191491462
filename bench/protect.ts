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
import { createDataFolder, type DataFolder } from './measure/data-folder.ts';
import { percentile } from './measure/statistics.ts';
import { startWriteCounter } from './protect/write-counter.ts';
import { atMost, numberRow, type Row } from './report/row.ts';

const LATENESS_MAX_MS = 2000;
const BURST_LATENESS_MAX_MS = 60_000;
const POLL = seconds(0.2);

interface Plan {
  readonly nodes: number;
  readonly podsPerNode: number;
  /** The first protection ends this long after the pods appear, so that every one is armed by then. */
  readonly firstEndMs: number;
  /** The protections end at instants spread over this window. */
  readonly windowMs: number;
}

const FULL: Plan = { nodes: 50, podsPerNode: 6, firstEndMs: 20_000, windowMs: 60_000 };
const QUICK: Plan = { nodes: 5, podsPerNode: 2, firstEndMs: 20_000, windowMs: 10_000 };
/** All end in one second, as after a nightly batch that was started by one command. */
const BURST: Plan = { nodes: 500, podsPerNode: 20, firstEndMs: 120_000, windowMs: 1000 };
const QUICK_BURST: Plan = { nodes: 20, podsPerNode: 20, firstEndMs: 20_000, windowMs: 1000 };

export const protect: Bench = {
  summary: 'lateness of the end of a protection, and its DynamoDB writes',
  runsOnControlPlane: false,
  run: runProtect,
};

async function runProtect({ quick, progress }: BenchContext): Promise<BenchOutcome> {
  const spread = await runPlan(quick ? QUICK : FULL, progress);
  const burst = await runPlan(quick ? QUICK_BURST : BURST, progress);
  return {
    settings: { spread: spread.settings, burst: burst.settings },
    rows: [...toRows('', spread, LATENESS_MAX_MS), ...toRows('burst: ', burst, BURST_LATENESS_MAX_MS)],
    samples: { spread: spread.samples, burst: burst.samples },
  };
}

async function runPlan(plan: Plan, progress: BenchContext['progress']): Promise<Outcome> {
  await using parts = new AsyncDisposableStack();
  const counter = startWriteCounter();
  parts.defer(() => counter.close());
  const problems: string[] = [];
  const data = createDataFolder();
  parts.defer(data.remove);
  const stack = await startLocalStack({ dataDir: data.path, onProblem: problem => problems.push(problem) });
  parts.defer(() => stack.stop());

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
      const protectionMs = Math.floor(plan.firstEndMs + position * plan.windowMs);
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

  const giveUp = created + plan.firstEndMs + plan.windowMs + 30_000;
  while ((elapsed.size < ends.size || released.size < lastEnds.size) && systemClock.now() < giveUp) {
    progress.say('protect: waiting for protections to end', { done: elapsed.size, of: ends.size });
    await systemClock.sleep(POLL);
  }
  return {
    settings: { ...plan, dynamoDbDataIn: data.medium, problems },
    samples: {
      lateness: latenessOf(ends, elapsed),
      releaseLateness: latenessOf(lastEnds, released),
      writes: counter.writes(),
    },
    pods: ends.size,
    nodes: lastEnds.size,
  };
}

interface Outcome {
  readonly settings: Plan & { readonly dynamoDbDataIn: DataFolder['medium']; readonly problems: readonly string[] };
  readonly samples: {
    readonly lateness: readonly number[];
    readonly releaseLateness: readonly number[];
    readonly writes: number;
  };
  readonly pods: number;
  readonly nodes: number;
}

function toRows(prefix: string, { samples, pods, nodes }: Outcome, maxMs: number): Row[] {
  const { lateness, releaseLateness, writes } = samples;
  const row = (name: string, rest: Omit<Parameters<typeof numberRow>[0], 'name'>): Row =>
    numberRow({ name: `${prefix}${name}`, ...rest });
  const early = lateness.filter(ms => ms < 0).length;
  return [
    row('pods without their Event', { unit: '1', ours: pods - lateness.length, limit: atMost(0) }),
    row('Event before the end', { unit: '1', ours: early, limit: atMost(0) }),
    row('Event late, p50', { unit: 'ms', ours: percentile(lateness, 50) }),
    row('Event late, p99', { unit: 'ms', ours: percentile(lateness, 99), limit: atMost(maxMs) }),
    row('nodes not released', { unit: '1', ours: nodes - releaseLateness.length, limit: atMost(0) }),
    row('release late, p99', { unit: 'ms', ours: percentile(releaseLateness, 99), limit: atMost(maxMs) }),
    row('DynamoDB writes per pod life', { unit: '1', ours: writes / pods }),
  ];
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
