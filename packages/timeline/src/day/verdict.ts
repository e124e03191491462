/** What a day cost, in one sentence: each number counts nodes, which a page can show. */
import type { LineOf, TraceLine } from '../trace/lines.ts';
import { lengthOf } from './spans.ts';
import { guardName, notServedText, spanText, unitOf } from './text.ts';
import type { Bar, Lane, Phrase, Wait } from './types.ts';

export function verdictOf(
  lanes: readonly Lane[],
  lines: readonly TraceLine[],
  { start, end }: { readonly start: number; readonly end: number },
): readonly Phrase[] {
  const clauses = [
    terminated(lanes, 'repair', 'terminated by repair'),
    rebooted(lanes),
    terminated(lanes, 'request', 'terminated on request'),
    terminated(lanes, 'others', 'gone by others'),
    drained(lanes),
    failed(lanes),
    calledOff(lanes),
    notServed(lanes),
    drainedStill(lanes),
    terminatedStill(lanes),
    ...held(lanes),
    taken(lanes),
    observed(lanes),
    switchedOff(lanes, lines),
  ].filter(clause => clause.length > 0);
  const head = { text: `${spanText(end - start)}, ${unitOf(lanes.length, 'node')}: `, isHead: true };
  if (clauses.length === 0) return [head, { text: quietText(lanes, lines) }];
  return [head, ...clauses.flatMap((clause, index) => joined(clause, clauses[index + 1]))];
}

type Clause = readonly Phrase[];
/** One node that waits for less is no news. */
const LONG_HOLD = 15 * 60_000;

/** A clause that begins with a comma goes on with the one before; others stand apart. */
function joined(clause: Clause, next: Clause | undefined): Clause {
  if (next === undefined) return clause;
  return next[0]?.text.startsWith(',') === true ? clause : [...clause, { text: '; ' }];
}

const numberOf = (nodes: readonly string[]): Phrase => ({ text: String(nodes.length), isNumber: true, nodes });
const namesOf = (lanes: readonly Lane[]): readonly string[] => lanes.map(({ name }) => name);

function terminated(lanes: readonly Lane[], by: 'repair' | 'request' | 'others', words: string): Clause {
  const found = lanes.filter(({ end }) => end?.by === by);
  return found.length === 0 ? [] : [numberOf(namesOf(found)), { text: ` ${words}` }];
}

function rebooted(lanes: readonly Lane[]): Clause {
  const found = lanes.filter(({ reboots }) => reboots.length > 0);
  const first = found.filter(({ end }) => end?.by === 'repair');
  const rest = found.filter(({ end }) => end?.by !== 'repair');
  return [
    ...(first.length === 0 ? [] : [{ text: ', ' }, numberOf(namesOf(first)), { text: ' of them rebooted first' }]),
    ...(rest.length === 0
      ? []
      : [{ text: first.length === 0 ? '' : '; ' }, numberOf(namesOf(rest)), { text: ' rebooted' }]),
  ].filter(({ text }) => text !== '');
}

function drained(lanes: readonly Lane[]): Clause {
  const found = lanes.filter(({ drains }) =>
    drains.some(({ outcome, isRepair }) => outcome === 'succeeded' && !isRepair),
  );
  return found.length === 0 ? [] : [numberOf(namesOf(found)), { text: ' drained' }];
}

function failed(lanes: readonly Lane[]): Clause {
  const found = lanes.filter(({ drains }) => drains.some(({ outcome }) => outcome === 'failed'));
  return found.length === 0
    ? []
    : [numberOf(namesOf(found)), { text: ` drain${found.length === 1 ? '' : 's'} failed` }];
}

/** Nodes that nobody was asked to drain, since the kind of the custom resource was not served. */
function notServed(lanes: readonly Lane[]): Clause {
  const isNotServed = ({ reason }: Wait): boolean => reason === 'CustomDrainNotServed';
  const found = lanes.filter(({ waits }) => waits.some(isNotServed));
  const wait = found.flatMap(({ waits }) => waits.filter(isNotServed))[0];
  if (wait === undefined) return [];
  return [numberOf(namesOf(found)), { text: ` waited for a custom drain: ${notServedText(wait)}` }];
}

function drainedStill(lanes: readonly Lane[]): Clause {
  const found = lanes.filter(({ drains }) => drains.some(({ isOpen, isRepair }) => isOpen && !isRepair));
  return found.length === 0 ? [] : [numberOf(namesOf(found)), { text: ' still being drained at the end' }];
}

function terminatedStill(lanes: readonly Lane[]): Clause {
  const isOpenEnd = ({ kind, isOpen }: Bar): boolean => kind === 'termination' && isOpen;
  const found = lanes.filter(({ end, bars }) => end === undefined && bars.some(isOpenEnd));
  return found.length === 0 ? [] : [numberOf(namesOf(found)), { text: ' still being terminated at the end' }];
}

function calledOff(lanes: readonly Lane[]): Clause {
  const found = lanes.filter(({ drains }) => drains.some(({ outcome }) => outcome === 'cancelled'));
  if (found.length === 0) return [];
  const times = found.flatMap(({ drains }) => drains.filter(({ outcome }) => outcome === 'cancelled')).length;
  const count = { text: `${times}×`, isNumber: true, nodes: namesOf(found) };
  return [numberOf(namesOf(found)), { text: ` drain${found.length === 1 ? '' : 's'} called off ` }, count];
}

/** A clause a guard that says what surprises: one that held several nodes, or a node for long. */
function held(lanes: readonly Lane[]): readonly Clause[] {
  const holds = lanes.flatMap(lane => lane.bars.filter(isHold).map(bar => ({ lane, bar })));
  return [...Map.groupBy(holds, ({ bar }) => bar.guard ?? '')].flatMap(([guard, found]) => {
    const nodes = [...new Set(found.map(({ lane }) => lane.name))];
    const longest = Math.max(...found.map(({ bar }) => lengthOf(bar)));
    if (nodes.length < 2 && longest < LONG_HOLD) return [];
    return [
      [
        numberOf(nodes),
        { text: ` held by ${guardName(guard)} for up to ` },
        { text: spanText(longest), isNumber: true, nodes },
      ],
    ];
  });
}

const isHold = ({ kind, guard }: Bar): boolean => kind === 'held' && guard !== 'Observe';

function observed(lanes: readonly Lane[]): Clause {
  const found = lanes.filter(({ bars }) => bars.some(({ guard }) => guard === 'Observe'));
  return found.length === 0 ? [] : [numberOf(namesOf(found)), { text: ' would be repaired in mode Enforce' }];
}

function taken(lanes: readonly Lane[]): Clause {
  const found = lanes.filter(({ takenPods }) => takenPods.length > 0);
  const pods = found.flatMap(({ takenPods }) => takenPods).length;
  if (pods === 0) return [];
  return [
    { text: String(pods), isNumber: true, nodes: namesOf(found) },
    { text: ` protected pod${pods === 1 ? '' : 's'} taken` },
  ];
}

/** Nodes that were unhealthy and that nobody looks after, since repair is switched off. */
function switchedOff(lanes: readonly Lane[], lines: readonly TraceLine[]): Clause {
  const gate = lines.findLast((line): line is LineOf<'rules'> => line.kind === 'rules')?.gateOpen;
  const found = lanes.filter(({ bars }) => bars.some(({ kind }) => kind === 'unhealthy'));
  if (gate !== false || found.length === 0) return [];
  return [numberOf(namesOf(found)), { text: ` unhealthy, and repair is off (featureGates.nodeRepair)` }];
}

/** Without a clause. Writes are not nothing, though they ended no node: a protection, a clean-up, a finalizer. */
function quietText(lanes: readonly Lane[], lines: readonly TraceLine[]): string {
  const ill = lanes.filter(({ bars }) => bars.some(({ kind }) => kind === 'unhealthy'));
  if (ill.length > 0) return `${unitOf(ill.length, 'node')} unhealthy, nothing had to be done`;
  return lines.some(({ kind }) => kind === 'write')
    ? 'no node was repaired, drained or terminated'
    : 'nothing happened';
}

/** The sentence as text. */
export const verdictText = (phrases: readonly Phrase[]): string => phrases.map(({ text }) => text).join('');
