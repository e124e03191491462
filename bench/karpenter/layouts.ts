/** How many nodes the pool has and how many of them fail at once. Pure. Karpenter repairs while at most 20 % of a pool, rounded up, are unhealthy. */
export interface Layout {
  readonly nodes: number;
  readonly bursts: { readonly one: number; readonly ten: number };
}

export const POOL = 'main';
const bursts = { one: 1, ten: 10 };
export const FULL: Layout = { nodes: 100, bursts };
export const QUICK: Layout = { nodes: 50, bursts };
