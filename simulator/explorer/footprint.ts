/**
 * What a call may depend on, and what it adds to. Which objects and records it changes is not said here but seen when it is made. Two
 * calls that see nothing of each other may change places without anybody noticing.
 */
import { dig, textOf } from '../invariants/reading.ts';
import type { DescribedCall } from './describe-call.ts';
import { thingOf } from './explored-cluster.ts';

export interface Footprint {
  /** What answer and effect depend on; `pods/*` is all pods. */
  readonly reads: readonly string[];
  /** What is added to messages or to what happened outside of the cluster. */
  readonly adds?: Addition;
}

export interface Addition {
  readonly to: string;
  readonly text: string;
}

/** Messages that were sent; their order does not matter. */
export const MESSAGES = 'messages';
/** What happens to instances: the name of their port. */
export const INSTANCES = 'instances';
const READING: ReadonlySet<string> = new Set(['get', 'list', 'describe', 'checkOf', 'queryDue']);

export const recordThing = (owner: string, id: string): string => `record/${owner}/${id}`;

/** Coarse rather than wrong: a call that is not known here reads and adds to its whole port. */
export function footprintOf({ port, method, args }: DescribedCall): Footprint {
  const [first, second] = args;
  const text = `${port} ${method} ${JSON.stringify(args)}`;
  switch (port) {
    case 'kubernetes':
      return { reads: kubernetesThings(method, first, second) };
    case 'records':
      return { reads: [recordThing(textOf(dig(first, 'owner')) ?? '', textOf(dig(first, 'id')) ?? '')] };
    case 'dueIndex':
      return { reads: ['record/*'] };
    case 'wakeUps':
    case 'bus':
      return { reads: [], adds: { to: MESSAGES, text } };
    default:
      return READING.has(method) ? { reads: [port] } : { reads: [port], adds: { to: port, text } };
  }
}

function kubernetesThings(method: string, first: unknown, second: unknown): readonly string[] {
  const type = method === 'list' || method === 'create' ? first : dig(first, 'type');
  const resource = textOf(dig(type, 'resource')) ?? '';
  if (method === 'list') return [`${resource}/*`];
  const object = method === 'create' ? dig(second, 'metadata') : first;
  const own = thingOf(resource, textOf(dig(object, 'namespace')), textOf(dig(object, 'name')));
  // An eviction asks the budgets, and they count pods.
  return method === 'evict' ? [own, 'pods/*', 'poddisruptionbudgets/*'] : [own];
}
