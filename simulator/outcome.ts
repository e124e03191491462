/** What a run comes to: what was repaired, evicted and terminated, and what was held, since when and by what. From the trace alone. */
import type { JsonValue } from '../shared/domain/kubernetes-object.ts';
import type { TraceEntry } from './trace.ts';

export interface Done {
  readonly what: 'repair' | 'wouldRepair' | 'evict' | 'terminate';
  /** `Node n1`, `Pod prod/web-0`. */
  readonly object: string;
  /** RFC 3339. */
  readonly time: string;
  readonly why: string;
}

export interface Held {
  readonly object: string;
  readonly by: string;
  readonly reason: string;
  readonly message: string;
  /** RFC 3339, of the first and the last time that it was said. */
  readonly from: string;
  readonly to: string;
}

export interface Outcome {
  readonly done: readonly Done[];
  readonly held: readonly Held[];
}

const DONE: Readonly<Record<string, Done['what']>> = {
  repair: 'repair',
  wouldRepair: 'wouldRepair',
  evict: 'evict',
  terminate: 'terminate',
};
/** Decisions that hold something back. */
const HELD: ReadonlySet<string> = new Set(['tolerate', 'blocked', 'vetoed', 'wait', 'refuse']);

export function outcomeOf(entries: readonly TraceEntry[]): Outcome {
  const done: Done[] = [];
  const held = new Map<string, Held>();
  for (const { kind, line } of entries) {
    if (kind !== 'audit') continue;
    const decision = textOf(line['decision']);
    const object = objectOf(line['about']);
    const time = textOf(line['t']);
    const message = textOf(line['message']);
    const what = DONE[decision];
    if (what !== undefined) done.push({ what, object, time, why: message });
    if (!HELD.has(decision)) continue;
    const by = textOf(line['function']);
    const reason = textOf(line['reason']);
    const key = JSON.stringify([object, by, reason]);
    held.set(key, { object, by, reason, message, from: held.get(key)?.from ?? time, to: time });
  }
  return { done, held: [...held.values()] };
}

const TITLES = {
  repair: 'repaired',
  wouldRepair: 'would be repaired',
  evict: 'evicted',
  terminate: 'terminated',
} as const;

/** A line each, for people. */
export function formatOutcome({ done, held }: Outcome): readonly string[] {
  return [
    ...done.map(({ what, object, time, why }) => `${time}  ${object} ${TITLES[what]}: ${why}`),
    ...held.map(({ object, by, reason, message, from, to }) => {
      const span = from === to ? from : `${from} to ${to}`;
      return `${span}  ${object} held by ${by} (${reason}): ${message}`;
    }),
    ...(done.length + held.length === 0 ? ['nothing was done, and nothing was held'] : []),
  ];
}

function objectOf(about: JsonValue | undefined): string {
  if (typeof about !== 'object' || about === null || !('name' in about)) return '';
  const { kind, namespace, name } = about;
  return `${textOf(kind)} ${namespace === undefined ? '' : `${textOf(namespace)}/`}${textOf(name)}`;
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
