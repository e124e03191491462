/** What a run comes to: what was repaired, drained and terminated, and what was held, from when to when and by what. From the trace alone. */
import { isJsonObject } from '../shared/domain/json.ts';
import type { JsonObject, JsonValue } from '../shared/domain/kubernetes-object.ts';
import { onOneLine } from '../shared/domain/printable.ts';
import { WARNINGS } from './expect.ts';
import { createHoldEnds, endsHold, type HoldEnd } from './hold-ends.ts';
import { textOf, type TraceEntry } from './trace.ts';

export interface Done {
  readonly what: keyof typeof TITLES;
  /** `Node n1`, `Pod prod/web-0`. */
  readonly object: string;
  /** RFC 3339. */
  readonly time: string;
  readonly why: string;
  /** Of a repair: what it did, as `Reboot`, … */
  readonly action?: string;
  /** … until when that has time, … */
  readonly until?: string;
  /** … what follows while the node is unhealthy, … */
  readonly follows?: readonly string[];
  /** … and which entry decided, as `spec.repair.policies of NodePool web`. */
  readonly entry?: string;
}

export interface Held {
  /** As of `Done`. */
  readonly object: string;
  /** The function that holds it. */
  readonly by: string;
  readonly reason: string;
  /** As it was said from `from` to `to`: other words are another row. */
  readonly message: string;
  /** RFC 3339: when it was said first. */
  readonly from: string;
  /** RFC 3339; missing: it was held when the run ended. */
  readonly to?: string;
}

export interface Outcome {
  /** In the order of time. */
  readonly done: readonly Done[];
  /** Of these the repairs that are not over at the end. */
  readonly underWay: readonly Done[];
  /** In the order of `from`. */
  readonly held: readonly Held[];
}

/** What is done, for people. */
const TITLES = {
  repair: 'repaired',
  wouldRepair: 'would be repaired',
  drain: 'drained',
  drainFailed: 'drain failed',
  drainCancelled: 'drain cancelled',
  terminate: 'termination begun',
  wouldTerminate: 'would be terminated',
  terminated: 'terminated',
  evict: 'evicted',
  delete: 'deleted',
  orphan: 'possibly left behind',
  release: 'open to disruption again',
} as const;

/** By function, decision, and reason where that counts. */
const DONE: Readonly<Record<string, Done['what']>> = {
  'repair repair': 'repair',
  'repair wouldRepair': 'wouldRepair',
  'drain end DrainSucceeded': 'drain',
  'drain end DrainFailed': 'drainFailed',
  'drain end DrainCancelled': 'drainCancelled',
  'drain evict': 'evict',
  'drain delete': 'delete',
  'finalizer terminate': 'terminate',
  'finalizer wouldTerminate': 'wouldTerminate',
  'finalizer release TerminationFinished': 'terminated',
  'finalizer evict': 'evict',
  'finalizer forceDelete': 'delete',
  'finalizer orphan': 'orphan',
  'grace-period release': 'release',
};

/** After these a repair of the node is over, or another act of it. A stuck one is not over. */
const REPAIR_ENDS: readonly string[] = ['recovered', 'close', 'exhausted', 'repair', 'blocked', 'vetoed', 'ignore'];

/** Decisions that hold an object back, by function, and those that end that; without the latter any other decision about it does. */
interface HoldRule {
  readonly begin: readonly string[];
  readonly end?: readonly string[];
  /** Waits for one thing after the other: the next ends the one before. */
  readonly isInTurn?: true;
  /** Decisions that end the holds of some reasons alone, with a reason of theirs where that counts. */
  readonly over?: Readonly<Record<string, readonly string[]>>;
}

const HOLDS: Readonly<Record<string, HoldRule>> = {
  repair: { begin: ['tolerate', 'blocked', 'vetoed', 'refused', 'refuse', 'retry'] },
  drain: {
    begin: ['hold', 'wait'],
    end: ['begin', 'end', 'cancel', 'release', 'close'],
    over: { fallBack: ['CustomDrainNotServed', 'AwaitingCustomDrain'] },
  },
  finalizer: {
    begin: ['wait', 'retry', 'refuse', 'overdue'],
    // What is an orphan has gone, or goes.
    end: ['release', 'close', 'orphan'],
    isInTurn: true,
    over: { 'hook HookSucceeded': ['Waiting'], hookTimedOut: ['Waiting'], hold: ['FinalizationError'] },
  },
  'grace-period': { begin: ['hold', 'notOurs'], end: ['release', 'disown', 'close'] },
};

/** `left`: when it seemed to end. A later audit line that repeats it takes that back. */
interface OpenHold {
  readonly hold: Held;
  readonly left?: string;
}

type HoldsOfObject = ReadonlyMap<string, Map<string, OpenHold>>;

function endHolds(
  holdEnd: HoldEnd,
  time: string,
  ofObject: HoldsOfObject,
  end: (hold: OpenHold, time: string) => void,
): void {
  for (const holds of ofObject.values()) {
    for (const [reason, each] of holds) {
      if (!endsHold(holdEnd, each.hold)) continue;
      if (holdEnd.kind === 'corrected') {
        holds.set(reason, { left: time, ...each });
      } else {
        holds.delete(reason);
        end(each, time);
      }
    }
  }
}

export function outcomeOf(entries: readonly TraceEntry[]): Outcome {
  const done: Done[] = [];
  const held: Held[] = [];
  const underWay = new Map<string, Done>();
  /** What holds an object now, by object, then by function, then by reason. */
  const open = new Map<string, Map<string, Map<string, OpenHold>>>();
  const end = ({ hold, left }: OpenHold, time: string): void => {
    const to = left ?? time;
    // A toleration that is over says nothing: the repair, or what blocks it, says more.
    if (hold.reason !== TOLERATED && hold.from !== to) held.push({ ...hold, to });
  };
  const holdEndOf = createHoldEnds();
  for (const entry of entries) {
    const { kind, line } = entry;
    const holdEnd = holdEndOf(entry);
    const ofEnded = holdEnd === undefined ? undefined : open.get(holdEnd.object);
    if (holdEnd !== undefined && ofEnded !== undefined) endHolds(holdEnd, textOf(line['t']), ofEnded, end);
    if (kind !== 'audit') continue;
    const [by, decision, reason] = [textOf(line['function']), textOf(line['decision']), textOf(line['reason'])];
    // Said of what is in force all the same: it holds nothing back, and a note says it.
    if (WARNINGS.includes(reason)) continue;
    const object = objectOf(line['about']);
    const [time, message] = [textOf(line['t']), textOf(line['message'])];
    const what = DONE[`${by} ${decision} ${reason}`] ?? DONE[`${by} ${decision}`];
    if (by === 'repair' && REPAIR_ENDS.includes(decision)) underWay.delete(object);
    if (what !== undefined) {
      const each: Done = { what, object, time, why: message, ...actOf(fieldsOf(line['details'])) };
      done.push(each);
      if (what === 'repair') underWay.set(object, each);
    }

    const ofObject = open.get(object) ?? new Map<string, Map<string, OpenHold>>();
    const holds = ofObject.get(by) ?? new Map<string, OpenHold>();
    const rule = HOLDS[by];
    const begins = rule?.begin.includes(decision) === true;
    const ended = rule?.over?.[`${decision} ${reason}`] ?? rule?.over?.[decision];
    if (!begins && ended === undefined && rule?.end !== undefined && !rule.end.includes(decision)) continue;
    // Whatever else is said of it ends what was said before; a function with ends of its own may hold it for several reasons.
    const isOver = (other: string, { hold }: OpenHold): boolean => {
      if (ended !== undefined) return ended.includes(other);
      if (!begins || (other === reason && hold.message !== message)) return true;
      return other !== reason && (rule?.end === undefined || rule.isInTurn === true);
    };
    const over = [...holds].filter(([other, each]) => isOver(other, each));
    for (const [other, each] of over) {
      holds.delete(other);
      end(each, time);
    }
    if (begins) {
      const from = holds.get(reason)?.hold.from ?? time;
      holds.set(reason, { hold: { object, by, reason, message, from } });
    }
    open.set(object, ofObject.set(by, holds));
  }
  for (const each of [...open.values()].flatMap(ofObject =>
    [...ofObject.values()].flatMap(holds => [...holds.values()]),
  )) {
    if (each.left === undefined) held.push(each.hold);
    else end(each, each.left);
  }
  return {
    done,
    underWay: [...underWay.values()],
    held: held.toSorted((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0)),
  };
}

const TOLERATED = 'WithinToleration';

/** What a repair did, in words; it has only begun. */
const ACTION_TITLES: Readonly<Record<string, string>> = {
  Terminate: 'termination by repair begun',
  Reboot: 'reboot by repair begun',
  Drain: 'drain by repair begun',
};

const titleOf = ({ what, action }: Done): string =>
  what === 'repair' && action !== undefined ? (ACTION_TITLES[action] ?? `${action} by repair begun`) : TITLES[what];

/** What an audit line of repair says of its act. */
function actOf({ action, until, follows, decidedBy }: JsonObject): Partial<Done> {
  const [place] = Array.isArray(decidedBy) ? decidedBy : [];
  const { kind, name, field } = fieldsOf(place);
  return {
    ...(typeof action === 'string' && { action }),
    ...(typeof until === 'string' && { until }),
    ...(Array.isArray(follows) && { follows: follows.map(textOf) }),
    ...(field !== undefined && { entry: `${textOf(field)} of ${textOf(kind)} ${textOf(name)}` }),
  };
}

const fieldsOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** Until when it has time, what follows, and which entry decided. */
function restOf({ what, until, follows, entry }: Done): string {
  if (what !== 'repair') return '';
  const time = until === undefined ? '' : `, has time until ${short(until)}`;
  const next = follows === undefined ? '' : `, then ${follows.join(', ')}`;
  return `${time}${next}${entry === undefined ? '' : `, by ${entry}`}`;
}

/** A line each, for people, with a heading for what was done and one for what was held. */
export function formatOutcome({ done, underWay, held }: Outcome): readonly string[] {
  return [
    ...(done.length === 0 ? ['nothing was done'] : ['done:']),
    ...done.map(
      each => `  ${short(each.time)}  ${each.object} ${titleOf(each)}${restOf(each)}: ${onOneLine(each.why)}`,
    ),
    ...(underWay.length === 0 ? [] : ['under way at the end:']),
    ...underWay.map(each => `  since ${short(each.time)}  ${each.object} ${titleOf(each)}${restOf(each)}`),
    ...(held.length === 0 ? ['nothing was held'] : ['held:']),
    ...held.map(({ object, by, reason, message, from, to }) => {
      const until = to === undefined ? 'the end' : short(to);
      return `  ${short(from)} to ${until}  ${object} by ${by} (${reason}): ${onOneLine(message)}`;
    }),
  ];
}

/** Without milliseconds where there are none. */
const short = (time: string): string => time.replace('.000Z', 'Z');

/** `Node n1`, `Pod prod/web-0`: what a line is about. */
export function objectOf(about: JsonValue | undefined): string {
  if (typeof about !== 'object' || about === null || !('name' in about)) return '';
  const { kind, namespace, name } = about;
  return `${textOf(kind)} ${namespace === undefined ? '' : `${textOf(namespace)}/`}${textOf(name)}`;
}
