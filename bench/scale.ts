/**
 * Repair as clusters and storms grow: how long a pass over 10,000 nodes takes on the function's share of a processor, how late a due node's
 * NodeClaim is deleted, what a pass over its pool reads, how long a storm takes, and how often a blocked pool is looked at.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { measureInterleaved } from './measure/rounds.ts';
import { atMost, numberRow, ratioRow, type Row } from './report/row.ts';
import { passesPerBurst, type BurstPlan } from './scale/bursts.ts';
import { readsOfPass, type PassReads } from './scale/pass.ts';
import { startStack, type ScaleStack } from './scale/stack.ts';
import { measureThrottled, throttledRows, type ThrottledPlan } from './scale/throttled-pass.ts';
import { measureWakeUps, wakeUpRows, type WakeUpPlan } from './scale/wake-ups.ts';

/** The Nodes of the pool with their NodeClaims, then all Nodes of the cluster, and the few policies. */
const OBJECTS_PER_NODE_MAX = 3.1;
const STORM_MAX_MS = 60_000;
const PASSES_PER_BURST_MAX = 1;

/** As Nodes of EKS have it that many images were pulled to. */
const NODE_BYTES = 20_000;
const TOLERATION_SECONDS = 60;
/** Between the last node that breaks and the time when all are due: their timers are armed by then. */
const LEAD_MS = 2000;
/** In which a pass ends what it has to do, and the next one may begin. */
const PAUSE_MS = 1500;
const STACK_REST_MAX_MS = 300_000;
const REACTION_MAX_MS = 30_000;

interface Plan {
  readonly sizes: readonly [small: number, large: number];
  readonly atOnce: number;
  readonly rounds: number;
  readonly warmUpRounds: number;
  readonly throttled: ThrottledPlan;
  readonly wakeUps: WakeUpPlan;
  readonly storm: { readonly nodes: number; readonly ill: number; readonly leadMs: number };
  readonly burst: BurstPlan;
}

const FULL: Plan = {
  sizes: [100, 400],
  atOnce: 10,
  rounds: 10,
  warmUpRounds: 3,
  throttled: {
    clusters: [
      { nodes: 10_000, firstPool: 5000, nodeBytes: NODE_BYTES },
      { nodes: 10_000, firstPool: 10_000, nodeBytes: NODE_BYTES },
    ],
    rounds: 3,
  },
  wakeUps: {
    clusters: [
      { nodes: 100, firstPool: 100, nodeBytes: NODE_BYTES },
      { nodes: 5000, firstPool: 100, nodeBytes: NODE_BYTES },
    ],
    rounds: 15,
    warmUpRounds: 3,
  },
  storm: { nodes: 5000, ill: 1000, leadMs: 45_000 },
  burst: { nodes: 2000, ill: 1000, bursts: 5, changes: 50 },
};
const QUICK: Plan = {
  sizes: [20, 80],
  atOnce: 10,
  rounds: 2,
  warmUpRounds: 1,
  throttled: { clusters: [{ nodes: 400, firstPool: 200, nodeBytes: NODE_BYTES }], rounds: 1 },
  wakeUps: {
    clusters: [
      { nodes: 50, firstPool: 50, nodeBytes: NODE_BYTES },
      { nodes: 200, firstPool: 50, nodeBytes: NODE_BYTES },
    ],
    rounds: 2,
    warmUpRounds: 1,
  },
  storm: { nodes: 200, ill: 60, leadMs: 6000 },
  burst: { nodes: 100, ill: 50, bursts: 2, changes: 10 },
};

/** Each of the two ends within ten minutes. */
export const scale: Bench = {
  summary:
    'a throttled pass over 10,000 nodes, repair of one node and of ten in pools of growing size, what a pass reads',
  runsOnControlPlane: false,
  run: runScale,
};
export const scaleStorm: Bench = {
  summary: 'repair of a thousand nodes of five thousand, and passes of a blocked pool with a thousand ill nodes',
  runsOnControlPlane: false,
  run: runStorm,
};

async function runScale({ quick, progress }: BenchContext): Promise<BenchOutcome> {
  const { sizes, atOnce, rounds, warmUpRounds, throttled, wakeUps } = quick ? QUICK : FULL;
  const [small, large] = sizes;
  progress.say('scale: throttled passes');
  const throttledPasses = await measureThrottled(throttled, (done, of) =>
    progress.say('scale: throttled passes', { done, of }),
  );
  progress.say('scale: wake-ups');
  const sinceWakeUp = await measureWakeUps(wakeUps);
  progress.say('scale: passes');
  const passes = await readsOfPasses(sizes);
  progress.say('scale: starting two clusters');
  const plan = { sizes, atOnce, rounds, warmUpRounds };
  const lateness = await measureLateness(plan, (done, of) => progress.say('scale: breaking nodes', { done, of }));
  return {
    settings: { ...plan, throttled, wakeUps, tolerationSeconds: TOLERATION_SECONDS, leadMs: LEAD_MS },
    rows: [
      ...throttledRows(throttled.clusters, throttledPasses),
      ...wakeUpRows(sinceWakeUp),
      ...latenessRows(`due to deleted, one`, { small, large }, lateness.one),
      ...latenessRows(`due to deleted, all of ${atOnce} at once`, { small, large }, lateness.many),
      ...passRows(passes),
    ],
    samples: {
      throttled: Object.fromEntries(throttledPasses),
      sinceWakeUp: Object.fromEntries(sinceWakeUp),
      lateness,
      passes,
    },
  };
}

async function runStorm({ quick, progress }: BenchContext): Promise<BenchOutcome> {
  const { storm: plan, burst } = quick ? QUICK : FULL;
  const bursts = await passesPerBurst(burst, what => progress.say(`scale-storm: a blocked pool, ${what}`));
  progress.say(`scale-storm: ${plan.ill} of ${plan.nodes} nodes`);
  const storm = await measureStorm(plan);
  return {
    settings: { storm: plan, burst, tolerationSeconds: TOLERATION_SECONDS },
    rows: [
      numberRow({
        name: `${plan.ill} of ${plan.nodes} due: until all deletions are accepted`,
        unit: 'ms',
        ours: storm.endMs,
        limit: atMost(STORM_MAX_MS),
      }),
      numberRow({ name: 'of them not deleted', unit: '1', ours: plan.ill - storm.lateness.length, limit: atMost(0) }),
      numberRow({ name: 'requests of the repair function for each', unit: '1', ours: storm.requests / plan.ill }),
      numberRow({
        name: `passes per burst of ${burst.changes} changes, ${burst.ill} ill and blocked`,
        unit: '1',
        ours: bursts,
        limit: atMost(PASSES_PER_BURST_MAX),
      }),
    ],
    samples: { bursts, storm },
  };
}

async function readsOfPasses([small, large]: Plan['sizes']): Promise<Record<string, PassReads>> {
  return {
    smallOne: await readsOfPass({ nodes: small, ill: 1, allowed: false }),
    smallMany: await readsOfPass({ nodes: small, ill: small / 2, allowed: false }),
    largeOne: await readsOfPass({ nodes: large, ill: 1, allowed: false }),
    largeMany: await readsOfPass({ nodes: large, ill: large / 2, allowed: false }),
    repairing: await readsOfPass({ nodes: large, ill: large / 2, allowed: true }),
  };
}

function passRows(passes: Readonly<Record<string, PassReads>>): Row[] {
  const blocked = Object.entries(passes).map(([key, { nodes, ill, repaired, requests, objectsListed }]) => {
    const what = key === 'repairing' ? `that repairs ${repaired}` : 'that is blocked';
    const name = `a pass ${what}, ${ill} ill of ${nodes}`;
    return [
      numberRow({ name: `${name}: reads`, unit: '1', ours: requests }),
      numberRow({
        name: `${name}: objects listed per node`,
        unit: '1',
        ours: objectsListed / nodes,
        limit: atMost(OBJECTS_PER_NODE_MAX),
      }),
    ];
  });
  return blocked.flat();
}

interface Lateness {
  /** Of each round, by the number of nodes: the last deletion's. */
  readonly small: readonly number[];
  readonly large: readonly number[];
}

async function measureLateness(
  { sizes, atOnce, rounds, warmUpRounds }: Pick<Plan, 'sizes' | 'atOnce' | 'rounds' | 'warmUpRounds'>,
  onRound: (done: number, of: number) => void,
): Promise<{ readonly one: Lateness; readonly many: Lateness }> {
  await using parts = new AsyncDisposableStack();
  const [small, large] = [
    parts.use(await startStack(sizes[0], TOLERATION_SECONDS)),
    parts.use(await startStack(sizes[1], TOLERATION_SECONDS)),
  ];
  for (const stack of [small, large]) await stack.rest(STACK_REST_MAX_MS);
  const samples = await measureInterleaved(
    {
      smallOne: samplerOf(small, 10_000, 1),
      largeOne: samplerOf(large, 10_000, 1),
      smallMany: samplerOf(small, 20_000, atOnce),
      largeMany: samplerOf(large, 20_000, atOnce),
    },
    { rounds, warmUpRounds, onRound },
  );
  const of = (name: 'smallOne' | 'largeOne' | 'smallMany' | 'largeMany') => samples.get(name) ?? [];
  return {
    one: { small: of('smallOne'), large: of('largeOne') },
    many: { small: of('smallMany'), large: of('largeMany') },
  };
}

/** Breaks new nodes each time; how late the last of them was deleted, in milliseconds. */
function samplerOf(stack: ScaleStack, start: number, count: number): () => Promise<number> {
  let first = start;
  return async () => {
    const group = { first, count, leadMs: LEAD_MS };
    first += count;
    await stack.make(group);
    await sleep(PAUSE_MS);
    const { lateness } = await stack.breakNodes(group, REACTION_MAX_MS);
    if (lateness.length < count) {
      throw new Error(
        `${count - lateness.length} of ${count} were not deleted: ${(await stack.problems()).join('\n')}`,
      );
    }
    await sleep(PAUSE_MS);
    await stack.clear(group);
    await sleep(PAUSE_MS);
    return Math.max(...lateness);
  };
}

function latenessRows(name: string, { small, large }: { small: number; large: number }, lateness: Lateness): Row[] {
  const late = (nodes: number, ours: readonly number[]): Row =>
    numberRow({ name: `${name}, ${nodes} nodes, p50`, unit: 'ms', ours });
  return [
    late(small, lateness.small),
    late(large, lateness.large),
    ratioRow({
      name: `${name}, ${large} nodes against ${small}`,
      unit: 'ms',
      ours: lateness.large,
      reference: lateness.small,
    }),
  ];
}

async function measureStorm({ nodes, ill, leadMs }: Plan['storm']) {
  await using stack = await startStack(nodes, TOLERATION_SECONDS);
  await stack.rest(STACK_REST_MAX_MS * 2);
  const broken = await stack.breakNodes({ first: 0, count: ill, leadMs }, STORM_MAX_MS * 5);
  const endMs = broken.lateness.length === 0 ? NaN : Math.max(...broken.lateness);
  return { ...broken, endMs, problems: await stack.problems() };
}
