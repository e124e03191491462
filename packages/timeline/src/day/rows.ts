/** The table: decisions, Events and writes as text. */
import type { TraceLine } from '../trace/lines.ts';
import { textAt, timeAt } from './objects.ts';
import { spanText } from './text.ts';
import type { Lane, Row } from './types.ts';
import type { Whereabouts } from './who.ts';

export function rowsOf(lines: readonly TraceLine[], where: Whereabouts, lanes: readonly Lane[]): readonly Row[] {
  const spans = new Map(
    lanes.flatMap(({ bars }) => bars.filter(({ kind }) => kind === 'held').map(bar => [bar.line, bar.to - bar.from])),
  );
  return lines.flatMap((line, index): Row[] => {
    const base = { time: Date.parse(line.t), lane: where.lifeOf(line)?.name, line: index };
    switch (line.kind) {
      case 'audit': {
        const { function: by, decision, reason, message, about } = line;
        const held = spans.get(index);
        const action = held === undefined ? actionOf(line) : `held ${spanText(held)}`;
        return [{ ...base, kind: 'audit', by, decision, reason, action, message, object: objectOf(about) }];
      }
      case 'event': {
        const { by = '', type = '', reason, message, about } = line;
        return [{ ...base, kind: 'event', by, decision: type, reason, action: '', message, object: objectOf(about) }];
      }
      case 'write': {
        const { by, verb, resource, namespace, name, subresource, body } = line;
        const object = `${resource} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
        const message = body === undefined || verb === 'create' ? object : `${object} ${JSON.stringify(body)}`;
        return [{ ...base, kind: 'write', by, decision: verb, reason: subresource ?? '', action: '', message, object }];
      }
      case 'trace':
      case 'end':
      case 'step':
      case 'actor':
      case 'instance':
      case 'object':
      case 'policy':
      case 'rules':
      case 'status':
      case 'buried':
        return [];
    }
  });
}

/** What is done, or how long it takes until something may be done. */
function actionOf({ decision, details }: Extract<TraceLine, { kind: 'audit' }>): string {
  const action = textAt(details, 'action');
  if (action !== undefined) return action;
  const [due, since] = [timeAt(details, 'dueTime'), timeAt(details, 'lastTransitionTime')];
  return decision === 'tolerate' && due !== undefined && since !== undefined ? spanText(due - since) : '';
}

const objectOf = ({
  kind,
  namespace,
  name,
}: {
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}): string => `${kind ?? ''} ${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`;
