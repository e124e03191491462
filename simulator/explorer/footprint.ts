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
      const thing = kubernetesThing(method, args);
      return { reads: [thing], writes: isRead ? [] : [thing] };
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

/** All objects of a resource together, because lists show them all; nobody lists Events. */
function kubernetesThing(method: string, args: readonly unknown[]): string {
  const [first, second] = args;
  const type = method === 'list' || method === 'create' ? first : dig(first, 'type');
  const resource = textOf(dig(type, 'resource')) ?? '';
  if (resource !== 'events') return resource;
  return `event ${textOf(dig(method === 'create' ? dig(second, 'metadata') : first, 'name')) ?? ''}`;
}
