/**
 * What a call touches. Two calls that touch nothing in common, or only read what they have in common, may change places without
 * anybody seeing it.
 */
import { dig, textOf } from '../invariants/reading.ts';
import type { DescribedCall } from './describe-call.ts';

export interface Footprint {
  /** What the answer depends on. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

const READING: ReadonlySet<string> = new Set(['get', 'list', 'describe', 'queryDue']);
/** Every write of a record may change what the due index answers. */
const DUE = 'due index';
/** Where messages wait; their order matters. */
export const INBOXES = 'inboxes';

export function footprintOf({ port, method, args }: DescribedCall): Footprint {
  const isRead = READING.has(method);
  switch (port) {
    case 'kubernetes': {
      const { list, own } = kubernetesThings(method, args);
      return { reads: [own], writes: isRead ? [] : [...new Set([own, list])] };
    }
    case 'records': {
      const record = `record ${textOf(dig(args[0], 'owner')) ?? ''} ${textOf(dig(args[0], 'id')) ?? ''}`;
      return { reads: [record], writes: isRead ? [] : [record, DUE] };
    }
    case 'dueIndex':
      return { reads: [DUE], writes: [] };
    case 'wakeUps':
    case 'bus':
      return { reads: [], writes: [INBOXES] };
    default:
      return { reads: [port], writes: isRead ? [] : [port] };
  }
}

export const changesSomething = ({ writes }: Footprint): boolean => writes.length > 0;

/** All objects of a resource are one thing, because lists show them all; but of Events, of which runs write many, each is one, too. */
function kubernetesThings(method: string, args: readonly unknown[]): { readonly list: string; readonly own: string } {
  const [first, second] = args;
  const type = method === 'list' || method === 'create' ? first : dig(first, 'type');
  const list = textOf(dig(type, 'resource')) ?? '';
  if (list !== 'events' || method === 'list') return { list, own: list };
  return { list, own: `event ${textOf(dig(method === 'create' ? dig(second, 'metadata') : first, 'name')) ?? ''}` };
}
