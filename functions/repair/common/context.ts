/** The ports of repair, and its name. */
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';

/** Name of the function in its records. */
export const OWNER = 'repair';

/** Ports that repair uses. */
export type RepairDeps = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'bus' | 'instances' | 'events' | 'audit' | 'metrics' | 'clock'
>;
