/** Pools and how many of their nodes fail at once. Pure. Karpenter repairs while at most 20 % of a pool, rounded up, are unhealthy. */
export interface Pool {
  readonly name: string;
  readonly nodes: number;
}

/** Nodes that fail, by pool. */
export type Burst = Readonly<Record<string, number>>;

export interface Layout {
  readonly nodes: number;
  readonly pools: readonly Pool[];
  readonly bursts: { readonly one: Burst; readonly ten: Burst; readonly many: Burst };
}

export const MAIN = 'main';

const ceilOf20Percent = (nodes: number): number => Math.ceil(nodes / 5);

/** A main pool and many small ones, in which rounding up lets a larger share fail. */
function layoutOf(main: number, small: { readonly pools: number; readonly nodes: number }): Layout {
  const smallPools = Array.from({ length: small.pools }, (_, index) => ({
    name: `small-${index}`,
    nodes: small.nodes,
  }));
  const many: Record<string, number> = { [MAIN]: ceilOf20Percent(main) };
  for (const { name, nodes } of smallPools) many[name] = ceilOf20Percent(nodes);
  return {
    nodes: main + small.pools * small.nodes,
    pools: [{ name: MAIN, nodes: main }, ...smallPools],
    bursts: { one: { [MAIN]: 1 }, ten: { [MAIN]: 10 }, many },
  };
}

/** 60 of 100 nodes fail at once: Karpenter's threshold, which cannot be set, lets no more pass. */
export const FULL = layoutOf(50, { pools: 50, nodes: 1 });
export const QUICK = layoutOf(50, { pools: 5, nodes: 2 });
