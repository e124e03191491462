/** What stands in a bar: the longest that fits. */
import type { Bar } from '../src/day/types.ts';

const GUARD_LABELS: Readonly<Record<string, readonly string[]>> = {
  ZoneOutage: ['Zone outage', 'Zone'],
  ClusterConcurrencyBudget: ['Cluster limit', 'Limit'],
  ZoneConcurrencyBudget: ['Zone limit', 'Limit'],
  ConcurrencyBudget: ['Pool limit', 'Limit'],
  UnhealthyThreshold: ['maxUnhealthy'],
  DisruptionBudget: ['Budget'],
  ClusterFreeze: ['Freeze'],
  RampUp: ['Ramp'],
  ReplacementUnavailable: ['No replacement'],
  FutileRepairs: ['Futile'],
  DoNotRepair: ['Vetoed'],
  Observe: ['Observed'],
};

/** From the longest to the shortest. */
export function barLabel({ kind, label, guard, detail }: Bar): readonly string[] {
  if (kind === 'termination') return [label, 'End'];
  if (kind !== 'held') return [label];
  const numbers = /(\d+) of (\d+)/.exec(detail)?.[0];
  const names = GUARD_LABELS[guard ?? ''] ?? [label];
  return numbers === undefined ? names : [...names.map(name => `${name} ${numbers}`), ...names];
}
