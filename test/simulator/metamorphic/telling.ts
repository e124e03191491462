/** One story told twice: a scenario file, and the same with something changed that must not matter. What each run wrote is compared. */
import type { InvariantName, Violation } from '../../../simulator/invariants/invariant.ts';
import { runScenario, type RunOptions } from '../../../simulator/run.ts';
import type { Mutation } from '../../../simulator/swarm/seed.ts';
import { firstDifference, toWrite, type Write } from '../modes/properties.ts';
import { scenarioFrom, type ScenarioDocument, type World } from '../modes/world.ts';

/** A way of telling: the file, and how it is run. */
export interface Telling {
  readonly document: ScenarioDocument;
  readonly faults?: RunOptions['faults'];
  /** Changes what runs, over the mistake that a test puts in. */
  readonly around?: (mutation: Mutation) => Mutation;
}

/** In a body, as Kubernetes writes it. */
export const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** What must not matter. */
export interface Relation {
  readonly name: string;
  /** How the story is told first; default: as the world has it. */
  readonly first?: (document: ScenarioDocument, world: World) => Telling;
  readonly again: (document: ScenarioDocument, world: World) => Telling;
  /** Makes the writes of the second telling comparable: names and times as in the first. */
  readonly translate?: (write: Write, world: World) => Write;
  /** Which writes are compared; default: all. */
  readonly isCompared?: (write: Write, world: World) => boolean;
  /** By how much a write may come earlier or later; ms. 0: the times that it writes are compared, too. `Infinity`: only whether it comes. */
  readonly tolerance: number;
  /** Invariants that the second telling may break: those that say how soon. */
  readonly excused?: readonly InvariantName[];
}

interface Told {
  readonly writes: readonly Write[];
  readonly violations: readonly Violation[];
}

async function tell({ document, faults, around }: Telling, world: World, mutation: Mutation): Promise<Told> {
  const scenario = scenarioFrom(document);
  const { trace, violations } = await runScenario(scenario, {
    ...(around?.(mutation) ?? mutation),
    ...(faults !== undefined && { faults }),
  });
  return {
    writes: trace.filter(({ kind }) => kind === 'write').map(({ line }) => toWrite(line, world, scenario.start)),
    violations,
  };
}

/** The status of a policy counts nodes as it sees them, now and then. */
const isOfPolicy = ({ what }: Write): boolean => what.includes('nodelifecyclepolicies');

/**
 * What contradicts the relation in that world; undefined: it holds. An invariant counts that only the second telling breaks.
 *
 * @param mutation a mistake put into both runs
 */
export async function contradiction(
  relation: Relation,
  document: ScenarioDocument,
  world: World,
  mutation: Mutation = {},
): Promise<string | undefined> {
  const first = await tell(relation.first?.(document, world) ?? { document }, world, mutation);
  const again = await tell(relation.again(document, world), world, mutation);
  const isCompared = (write: Write): boolean => !isOfPolicy(write) && (relation.isCompared?.(write, world) ?? true);
  const comparable = (writes: readonly Write[]): readonly Write[] =>
    relation.tolerance === 0 ? writes : writes.map(write => ({ ...write, body: write.body.replaceAll(INSTANT, 'T') }));
  const isExcused = ({ invariant }: Violation): boolean => relation.excused?.includes(invariant) === true;
  const violation = first.violations.length > 0 ? undefined : again.violations.find(each => !isExcused(each));
  const translated = again.writes.map(write => relation.translate?.(write, world) ?? write);
  return (
    firstDifference(
      comparable(first.writes.filter(isCompared)),
      comparable(translated.filter(isCompared)),
      relation.tolerance,
    ) ??
    (violation && `${violation.invariant}: ${violation.message}`)
  );
}
