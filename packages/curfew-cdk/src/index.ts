/** Curfew as constructs: `new Curfew(stack, 'Curfew', { name, cluster })`. */
export { Curfew } from './curfew.ts';
export { CurfewState, type CurfewStateProps } from './curfew-state.ts';
export type { CurfewCluster, CurfewPrivateAccess, CurfewProps } from './props.ts';
