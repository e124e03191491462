/** A person asks for the drain of a Node, and takes that back, by an annotation on it: kubectl and `curfew drain` can both do it. Pure. */
import { endOf } from './ends.ts';
import { toHealthEvent } from './messages.ts';
import type { DrainRecord, Incoming } from './model.ts';
import type { DrainedNode } from './observation.ts';

/** `requestedBy` of such a request. */
const NODE_ANNOTATION = 'node-annotation';
/** As for `DrainRequested`. */
const MAX_ID_LENGTH = 253;

/** The id that the annotation's value stands for; undefined: nothing is asked for. */
export function requestedId(value: string | undefined): string | undefined {
  const id = value?.trim().slice(0, MAX_ID_LENGTH);
  return id === '' ? undefined : id;
}

/** What the annotation, or its absence, says that the record does not know yet. */
export function requestOnNode(
  { name, requested, answered }: Pick<DrainedNode, 'name' | 'requested' | 'answered'>,
  record: DrainRecord,
): Incoming | undefined {
  const { active, requests } = record;
  const running = active === undefined || active.end !== undefined ? [] : active.requests;
  const open = [...requests, ...running];
  const withdrawn = open.find(({ id, requestedBy }) => requestedBy === NODE_ANNOTATION && id !== requested);
  if (withdrawn !== undefined) return { kind: 'withdrawn', id: withdrawn.id };
  if (requested === undefined) return undefined;
  const known = [...requests, ...(active?.requests ?? [])];
  if (known.some(({ id }) => id === requested) || endOf(record, requested) !== undefined) return undefined;
  // The Node says so itself, also when the record is lost.
  if (answered?.id === requested) return undefined;
  const event = toHealthEvent({ id: requested, nodeName: name, message: 'asked for by an annotation', force: false });
  return { kind: 'drain', request: { id: requested, requestedBy: NODE_ANNOTATION, event, quarantine: undefined } };
}

/** How the drain ended that was asked for on the Node. */
export interface Answer {
  readonly id: string;
  readonly status: string;
  readonly message: string;
  readonly left: readonly string[];
}

/** What the Node's annotation says of the drain that was last asked for on it; undefined for anything that Curfew does not write. */
export function readAnswer(value: string | undefined): Answer | undefined {
  if (value === undefined) return undefined;
  try {
    const { id, status, message, left }: Partial<Answer> = JSON.parse(value);
    if (typeof id !== 'string' || typeof status !== 'string' || typeof message !== 'string') return undefined;
    return { id, status, message, left: Array.isArray(left) ? left.map(String) : [] };
  } catch {
    return undefined;
  }
}
