/** What happened, for people: what Curfew did, as in the trace, between the scenario's steps and the actors' writes. */
import type { JsonValue } from '../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../shared/domain/time.ts';
import type { TraceEntry } from './trace.ts';

export interface TimelineEntry {
  readonly time: EpochMs;
  readonly by: string;
  readonly text: string;
}

export const timelineOf = (trace: readonly TraceEntry[]): readonly TimelineEntry[] =>
  trace.flatMap(({ time, kind, line }) => {
    const text = textOfLine(kind, line);
    return text === undefined ? [] : [{ time, by: textOf(line['by'] ?? line['function']), text }];
  });

/** Undefined: status upkeep is noise, and objects are there for who wants to know how they were at an instant. */
function textOfLine(kind: TraceEntry['kind'], line: TraceEntry['line']): string | undefined {
  switch (kind) {
    case 'write':
      return writeText(line);
    case 'event':
    case 'audit':
      return remarkText(kind, line);
    case 'step': {
      const { text, problem } = line;
      return problem === undefined ? textOf(text) : `${textOf(text)} (${textOf(problem)})`;
    }
    case 'actor':
      return line['subresource'] === 'status' ? undefined : actorText(line);
    case 'buried':
      return `a message went to the dead-letter queue (${textOf(line['reason'])}): ${textOf(line['message'])}`;
    case 'trace':
    case 'end':
    case 'status':
    case 'instance':
    case 'object':
    case 'policy':
    case 'rules':
      return undefined;
  }
}

const placeOf = ({ namespace, name }: TraceEntry['line']): string =>
  `${namespace === undefined ? '' : `${textOf(namespace)}/`}${textOf(name)}`;

function actorText(line: TraceEntry['line']): string {
  const { verb, resource, gone } = line;
  return `${textOf(verb)} ${textOf(resource)} ${placeOf(line)}${gone === true && verb !== 'delete' ? ', which is gone with that' : ''}`;
}

function writeText(line: TraceEntry['line']): string {
  const { verb, resource, body } = line;
  const what = `${textOf(verb)} ${textOf(resource)} ${placeOf(line)}`;
  return body === undefined || verb === 'create' ? what : `${what} ${JSON.stringify(body)}`;
}

/** An Event or an audit record. */
function remarkText(kind: 'event' | 'audit', line: TraceEntry['line']): string {
  const { about, decision, reason, message } = line;
  const named = typeof about === 'object' && about !== null && 'name' in about ? about : {};
  const object = `${textOf(named['kind'])} ${placeOf(named)}`;
  const title = kind === 'event' ? `Event ${textOf(reason)}` : `${textOf(decision)} (${textOf(reason)})`;
  return `${title} ${object}: ${textOf(message)}`;
}

const textOf = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
