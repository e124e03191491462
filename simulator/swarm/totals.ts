/** The sums of a swarm. */
import type { SeedReport } from './seed.ts';

export interface Totals {
  readonly seeds: number;
  readonly simulatedHours: number;
  readonly nodeHours: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly decisions: Readonly<Record<string, number>>;
  /** In order of their seeds. */
  readonly failing: readonly SeedReport[];
}

export function sumUp(reports: readonly SeedReport[]): Totals {
  return {
    seeds: reports.length,
    simulatedHours: reports.reduce((sum, report) => sum + report.simulatedHours, 0),
    nodeHours: reports.reduce((sum, report) => sum + report.nodeHours, 0),
    faults: addCounts(reports.map(report => report.faults)),
    decisions: addCounts(reports.map(report => report.decisions)),
    failing: reports.filter(({ failure }) => failure !== undefined).toSorted((a, b) => a.seed - b.seed),
  };
}

/** Largest first. */
export function addCounts(counts: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const [key, count] of counts.flatMap(Object.entries<number>)) sums.set(key, (sums.get(key) ?? 0) + count);
  return Object.fromEntries([...sums].toSorted(([, a], [, b]) => b - a));
}
