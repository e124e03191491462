/** A port call in words, as it stands in a schedule. */
import { messageOf } from '../../shared/errors.ts';
import { dig, textOf } from '../invariants/reading.ts';

export interface DescribedCall {
  readonly port: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** `get node n1`, `list pods (spec.nodeName=n1)`, `put record node/uid-n1`. */
export function describeCall({ port, method, args }: DescribedCall): string {
  const [first, second] = args;
  switch (port) {
    case 'kubernetes': {
      const type = method === 'list' || method === 'create' ? first : dig(first, 'type');
      const resource = textOf(dig(type, 'resource')) ?? '';
      if (method === 'list') {
        const selector = textOf(dig(second, 'fieldSelector')) ?? textOf(dig(second, 'labelSelector'));
        return `list ${resource}${selector === undefined ? '' : ` (${selector})`}`;
      }
      const object = method === 'create' ? dig(second, 'metadata') : first;
      const subresource = textOf(dig(args[2], 'subresource'));
      const about = method === 'create' ? textOf(dig(second, 'reason')) : undefined;
      return `${method} ${resource}${subresource === undefined ? '' : `/${subresource}`} ${textOf(dig(object, 'name')) ?? ''}${about === undefined ? '' : ` (${about})`}`;
    }
    case 'records':
      return `${method} record ${textOf(dig(first, 'id')) ?? ''}`;
    case 'wakeUps': {
      const sent = Array.isArray(first) ? first : [];
      const names = sent.map(each => textOf(dig(each, 'wakeUp', 'subject', 'name')) ?? '');
      return `send wake-up of ${names.length === 0 ? 'nothing' : names.join(', ')}`;
    }
    default:
      return `${port} ${method} ${typeof first === 'string' ? first : ''}`.trimEnd();
  }
}

/** The outcome, where it is not as expected. */
export function describeAnswer(answer: unknown, error: unknown): string {
  if (error !== undefined) return ` → ${messageOf(error)}`;
  const kind = textOf(dig(answer, 'kind'));
  return kind === undefined || AS_EXPECTED.has(kind) ? '' : ` → ${kind}`;
}

const AS_EXPECTED: ReadonlySet<string> = new Set(['ok', 'there', 'written', 'deleted']);
