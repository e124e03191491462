/** A person asks for the drain of a Node, and takes that back, by an annotation on it: kubectl and `curfew drain` can both do it. Pure. */
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
  { name, requested }: Pick<DrainedNode, 'name' | 'requested'>,
  { active, requests, finished }: DrainRecord,
): Incoming | undefined {
  const running = active === undefined || active.end !== undefined ? [] : active.requests;
  const open = [...requests, ...running];
  const withdrawn = open.find(({ id, requestedBy }) => requestedBy === NODE_ANNOTATION && id !== requested);
  if (withdrawn !== undefined) return { kind: 'withdrawn', id: withdrawn.id };
  if (requested === undefined) return undefined;
  const known = [...requests, ...(active?.requests ?? []), ...finished];
  if (known.some(({ id }) => id === requested)) return undefined;
  const event = toHealthEvent({ id: requested, nodeName: name, message: 'asked for by an annotation', force: false });
  return { kind: 'drain', request: { id: requested, requestedBy: NODE_ANNOTATION, event, quarantine: undefined } };
}
