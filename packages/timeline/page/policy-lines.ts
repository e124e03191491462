/** Which fields of which policies decided what is in force for a node at an instant. */
import { at, textAt } from '../src/day/objects.ts';
import type { Bar, Day, Lane } from '../src/day/types.ts';
import type { LineOf } from '../src/trace/lines.ts';
import { excerptOf, yamlLines } from './yaml-lines.ts';

export interface Decided {
  readonly policy: LineOf<'policy'>;
  /** Dotted, from the top of the object. */
  readonly paths: readonly string[];
}

/** What a decision says that decided it: `details.decidedBy`, a list of `{ kind, name, field }`. */
function statedIn(
  details: unknown,
): readonly { readonly kind: string; readonly name: string; readonly field: string }[] {
  const stated = at(details, 'decidedBy');
  if (!Array.isArray(stated)) return [];
  return stated.map((each: unknown) => ({
    kind: textAt(each, 'kind') ?? '',
    name: textAt(each, 'name') ?? '',
    field: textAt(each, 'field') ?? '',
  }));
}

/** The bars in force, each with the line that says so. */
const inForce = ({ bars }: Lane, time: number): readonly Bar[] =>
  bars.filter(({ from, to, isOpen }) => from <= time && (time < to || isOpen));

/** Those policies that can be named, in the order of the bars: what is protected, tolerated, held. */
export function policiesAt(day: Day, lane: Lane, time: number): readonly Decided[] {
  const stated = decisionsAt(day, lane, time).flatMap(({ details }) => statedIn(details));
  const groups = Map.groupBy(stated, ({ kind, name }) => `${kind} ${name}`);
  return [...groups].flatMap(([key, fields]) => {
    const policy = day.lines.findLast(
      line => line.kind === 'policy' && `${line.objectKind} ${line.name}` === key && Date.parse(line.t) <= time,
    );
    if (policy?.kind !== 'policy') return [];
    const paths = [...new Set(fields.map(({ field }) => field))];
    return excerptOf(yamlLines(policy.text), paths).hits.size === 0 ? [] : [{ policy, paths }];
  });
}

/** The decisions that are in force: what began the bars, and the last one of all before. */
function decisionsAt(day: Day, lane: Lane, time: number): readonly LineOf<'audit'>[] {
  const begun = inForce(lane, time).map(({ line }) => day.lines[line]);
  // A hold comes after a toleration: what made the repair due counts too.
  const due = lane.bars
    .filter(({ kind, to }) => kind === 'tolerated' && to <= time)
    .map(({ line }) => day.lines[line])
    .slice(-1);
  return [...due, ...begun].filter((line): line is LineOf<'audit'> => line?.kind === 'audit');
}

/** The audit line in force: the last decision at or before the instant. */
export function auditAt(
  day: Day,
  lane: Lane,
  time: number,
): { readonly index: number; readonly line: LineOf<'audit'> } | undefined {
  const index = lane.decisions.findLast(each => Date.parse(day.lines[each]?.t ?? '') <= time);
  const line = index === undefined ? undefined : day.lines[index];
  return index !== undefined && line?.kind === 'audit' ? { index, line } : undefined;
}
