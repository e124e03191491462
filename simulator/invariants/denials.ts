/** Changes that admission policies deny. Each try says anew that one still does: Curfew tries again after 1, 2, 4 … 60 minutes (I5). */
import type { LastDenial, Named, PortCall, Run } from './invariant.ts';
import type { Mirror } from './mirror.ts';
import { dig, textOf } from './reading.ts';
import { isKubernetes, targetOf, type Target } from './run-journal.ts';

export interface Denials {
  readonly last: LastDenial;
  readonly ofItself: LastDenial;
  onAnswer(call: PortCall, run: Run): void;
}

/** Denials of one change in a row, and when the next try is due; ms. */
interface Row {
  readonly count: number;
  readonly due: number;
}

const MINUTE = 60_000;
const LONGEST_WAIT = 60;
/** A row ends when nobody tries for as long as the last wait plus this; the next denial starts a new row. In ms. */
const ROW_ENDS = 5 * MINUTE;

const waitAfter = (count: number): number => Math.min(2 ** (count - 1), LONGEST_WAIT) * MINUTE;

function denied(before: Row | undefined, now: number): Row {
  // Another change of the same kind is no further denial of this one.
  if (before !== undefined && now < before.due - MINUTE / 2) return before;
  const goesOn = before !== undefined && now - before.due < waitAfter(before.count) + ROW_ENDS;
  const count = goesOn ? before.count + 1 : 1;
  return { count, due: now + waitAfter(count) };
}

const keyOf = (resource: string, { name = '', namespace = '' }: Named): string => `${resource} ${namespace}/${name}`;

/** @param refusedUntil what the scenario lets the API server refuse */
export function createDenials(mirror: Mirror, now: () => number, refusedUntil: LastDenial): Denials {
  /** By object, then by who tries what. */
  const rows = new Map<string, Map<string, Row>>();
  /** Of pods on it, by the name of the Node. */
  const ofPods = new Map<string, Map<string, Row>>();
  const add = (to: typeof rows, key: string, change: string): void => {
    const known = to.get(key) ?? new Map<string, Row>();
    to.set(key, known.set(change, denied(known.get(change), now())));
  };
  const ofItself: LastDenial = (resource, target) =>
    Math.max(lastOf(rows.get(keyOf(resource, target))), refusedUntil(resource, target));
  return {
    ofItself,
    last(resource, target) {
      if (resource !== 'nodes') return ofItself(resource, target);
      const { name = '' } = target;
      const refused = podsOn(name, mirror).map(pod => refusedUntil('pods', pod));
      return Math.max(ofItself(resource, target), lastOf(ofPods.get(name)), ...refused);
    },
    onAnswer(call, { by }) {
      if (denialIn(call) === undefined) return;
      const target = changedBy(call);
      const key = keyOf(target.resource, target);
      const change = `${by} ${call.method}`;
      add(rows, key, change);
      const node = target.resource === 'pods' ? nodeOfPod(target, mirror) : undefined;
      if (node !== undefined) add(ofPods, node, `${key} ${change}`);
    },
  };
}

const lastOf = (rows: ReadonlyMap<string, Row> = new Map()): number =>
  Math.max(-Infinity, ...[...rows.values()].map(({ due }) => due));

/** What a policy said when it denied the call. */
export function denialIn(call: PortCall): string | undefined {
  if (!isKubernetes(call, 'create', 'patch', 'delete', 'evict')) return undefined;
  const { outcome } = call;
  const answer = outcome.kind === 'failed' ? outcome.error : outcome.kind === 'answered' ? outcome.value : undefined;
  return /\w+ '[^']*' with binding '[^']*' denied request: .*/s.exec(textOf(dig(answer, 'message')) ?? '')?.[0];
}

/** What the call would have changed; what it creates has its name in the manifest. */
export function changedBy(call: PortCall): Target {
  const target = targetOf(call);
  if (call.method !== 'create') return target;
  const { name, namespace } = {
    name: dig(call.args[1], 'metadata', 'name'),
    namespace: dig(call.args[1], 'metadata', 'namespace'),
  };
  return { ...target, name: textOf(name), namespace: textOf(namespace) };
}

const podsOn = (node: string | undefined, mirror: Mirror): readonly Named[] =>
  mirror.podsOn(node).map(({ metadata }) => metadata);

/** Undefined for a pod that is gone, or has no node. */
export const nodeOfPod = ({ name, namespace }: Named, mirror: Mirror): string | undefined =>
  textOf(
    dig(
      [...mirror.all('pods').values()].find(
        ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
      ),
      'spec',
      'nodeName',
    ),
  );
