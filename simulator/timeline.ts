/** What happened, for people: what Curfew did, as in the trace, between the scenario's steps and the actors' writes. */
import type { JsonValue } from '../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../shared/domain/time.ts';
import type { ObservedWrite } from '../packages/kube-apiserver/src/types.ts';
import type { BuriedMessage } from '../runtime/system-parts.ts';
import type { TraceEntry } from './trace.ts';

export interface TimelineEntry {
  readonly time: EpochMs;
  readonly by: string;
  readonly text: string;
}

export interface Timeline {
  readonly entries: readonly TimelineEntry[];
  addTrace(entry: TraceEntry): void;
  addStep(text: string, problem: string | undefined): void;
  addWrite(write: ObservedWrite): void;
  addBuried(message: BuriedMessage): void;
}

const ACTOR = 'actor:';

export function createTimeline(now: () => EpochMs): Timeline {
  const entries: TimelineEntry[] = [];
  return {
    entries,
    // Status upkeep is noise; the author's own writes are shown as steps.
    addTrace({ time, kind, line }) {
      if (kind === 'status') return;
      const by = textOf(line['by'] ?? line['function']);
      entries.push({ time, by, text: kind === 'write' ? writeText(line) : remarkText(kind, line) });
    },
    addStep(text, problem) {
      entries.push({ time: now(), by: 'scenario', text: problem === undefined ? text : `${text} (${problem})` });
    },
    addWrite({ user, verb, resource, ref, subresource, before, after }) {
      if (!user.startsWith(ACTOR) || subresource === 'status') return;
      const name = `${ref.namespace === undefined ? '' : `${ref.namespace}/`}${ref.name}`;
      const isGone = before !== undefined && after === undefined && verb !== 'delete';
      const text = `${verb} ${resource.resource} ${name}${isGone ? ', which is gone with that' : ''}`;
      entries.push({ time: now(), by: user.slice(ACTOR.length), text });
    },
    addBuried({ function: by, reason, explanation }) {
      entries.push({ time: now(), by, text: `a message went to the dead-letter queue (${reason}): ${explanation}` });
    },
  };
}

function writeText(line: TraceEntry['line']): string {
  const { verb, resource, namespace, name, body } = line;
  const place = namespace === undefined ? '' : `${textOf(namespace)}/`;
  const what = `${textOf(verb)} ${textOf(resource)} ${place}${textOf(name)}`;
  return body === undefined || verb === 'create' ? what : `${what} ${JSON.stringify(body)}`;
}

/** An Event or an audit record. */
function remarkText(kind: string, line: TraceEntry['line']): string {
  const { about, decision, reason, message } = line;
  const {
    kind: objectKind,
    namespace,
    name,
  } = typeof about === 'object' && about !== null && 'name' in about ? about : {};
  const object = `${textOf(objectKind)} ${namespace === undefined ? '' : `${textOf(namespace)}/`}${textOf(name)}`;
  const title = kind === 'event' ? `Event ${textOf(reason)}` : `${textOf(decision)} (${textOf(reason)})`;
  return `${title} ${object}: ${textOf(message)}`;
}

const textOf = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
