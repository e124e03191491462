/** What happens in a run, drawn from a seed: what people and machines do to eight nodes of two pools, and what is killed meanwhile. Pure. */
import type { FunctionName } from '../../../shared/contract/names.ts';
import { createRandom, type Random } from '../../../simulator/random.ts';

/** Of a pool whose nodes repair may replace, and of one whose nodes carry a finalizer of ours. */
export const POOLS = ['general', 'edge'] as const;
export type Pool = (typeof POOLS)[number];

/** Its NodeClaim has the same name. */
export interface Machine {
  readonly name: string;
  readonly pool: Pool;
  readonly providerID: string;
}

export interface StoryPod {
  readonly name: string;
  readonly node: string;
  /** The value of `karpenter.sh/do-not-disrupt`. */
  readonly doNotDisrupt: string | undefined;
}

export type Deed =
  | { readonly kind: 'ill' | 'recover'; readonly node: string }
  | { readonly kind: 'delete'; readonly claim: string }
  | { readonly kind: 'drain' | 'withdraw'; readonly node: string };

export type Disturbance =
  | { readonly kind: 'killForwarder' | 'snapshot' }
  | { readonly kind: 'killFunction'; readonly name: FunctionName }
  | { readonly kind: 'killApiserver' | 'pauseApiserver' | 'killEtcd'; readonly seconds: number }
  | { readonly kind: 'restore'; readonly bump: boolean };

/** In seconds since the begin. A disturbance waits for the one before it. */
export type Timed<T> = T & { readonly at: number };

export interface Story {
  readonly machines: readonly Machine[];
  readonly pods: readonly StoryPod[];
  readonly deeds: readonly Timed<Deed>[];
  readonly disturbances: readonly Timed<Disturbance>[];
}

/** How long an illness of the first pool is tolerated. */
export const TOLERATION_SECONDS = 10;
const DEEDS_WITHIN = 22;
const PER_POOL = 4;
const KILLED: readonly FunctionName[] = ['repair', 'finalizer', 'drain', 'grace-period', 'timer'];

export function drawStory(seed: number): Story {
  const random = createRandom(seed).stream('chaos');
  const machines = POOLS.flatMap((pool, index) =>
    Array.from({ length: PER_POOL }, (_, at): Machine => {
      const number = String(index * PER_POOL + at + 1).padStart(17, '0');
      return { name: `${pool}-${at + 1}`, pool, providerID: `aws:///us-west-2a/i-${number}` };
    }),
  );
  return {
    machines,
    pods: drawPods(random.stream('pods'), machines),
    deeds: drawDeeds(random.stream('deeds')),
    disturbances: drawDisturbances(random.stream('disturbances')),
  };
}

/** Each node has a pod that may go. Some have one that is protected for a while; a node whose drain is called off has one for ever. */
function drawPods(random: Random, machines: readonly Machine[]): readonly StoryPod[] {
  return machines.flatMap(({ name: node }) => {
    const plain = { name: `${node}-plain`, node, doNotDisrupt: undefined };
    const isHeld = node === 'general-4';
    if (!isHeld && !random.chance(0.6)) return [plain];
    return [plain, { name: `${node}-protected`, node, doNotDisrupt: isHeld ? 'true' : `${random.integer(8, 40)}s` }];
  });
}

function drawDeeds(random: Random): readonly Timed<Deed>[] {
  const when = (): number => random.next() * DEEDS_WITHIN;
  const [recovering, called] = [when(), when()];
  const deeds: readonly Timed<Deed>[] = [
    { at: when(), kind: 'ill', node: 'general-1' },
    { at: when(), kind: 'ill', node: 'general-2' },
    // Well again before anything is due.
    { at: recovering, kind: 'ill', node: 'general-3' },
    { at: recovering + random.integer(2, TOLERATION_SECONDS - 4), kind: 'recover', node: 'general-3' },
    { at: called, kind: 'drain', node: 'general-4' },
    { at: called + random.integer(3, 12), kind: 'withdraw', node: 'general-4' },
    { at: when(), kind: 'delete', claim: 'edge-1' },
    { at: when(), kind: 'delete', claim: 'edge-2' },
    { at: when(), kind: 'drain', node: 'edge-3' },
  ];
  return deeds.toSorted((a, b) => a.at - b.at);
}

/** Each once at least, in an order that chance chooses; the state that comes back is some seconds old. */
function drawDisturbances(random: Random): readonly Timed<Disturbance>[] {
  const others: Disturbance[] = [
    { kind: 'killForwarder' },
    { kind: 'killApiserver', seconds: random.integer(1, 6) },
    { kind: 'pauseApiserver', seconds: random.integer(2, 12) },
    { kind: 'killEtcd', seconds: random.integer(1, 4) },
    ...KILLED.map(name => ({ kind: 'killFunction' as const, name })),
    ...[1, 2].map(() => ({ kind: 'killFunction' as const, name: random.pick(KILLED) })),
  ];
  const shuffled = others.map(each => ({ each, order: random.next() })).toSorted((a, b) => a.order - b.order);
  const timed = shuffled.map(({ each }): Timed<Disturbance> => ({ ...each, at: 2 + random.next() * 28 }));
  const saved = 3 + random.next() * 12;
  const restored = saved + 5 + random.next() * 12;
  return [
    ...timed,
    { at: saved, kind: 'snapshot' as const },
    { at: restored, kind: 'restore' as const, bump: random.chance(0.5) },
  ].toSorted((a, b) => a.at - b.at);
}
