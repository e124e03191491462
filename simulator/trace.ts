/**
 * The trace of a run: one line for each write of Curfew that took effect, each Kubernetes Event it recorded, each status of
 * a policy that it wrote, and each audit record, in order. Actors' and the scenario's own writes are not in it.
 */
import { CURFEW_GROUP } from '../shared/contract/names.ts';
import { isJsonObject } from '../shared/domain/json.ts';
import type { JsonObject, JsonValue } from '../shared/domain/kubernetes-object.ts';
import { toIsoText, type EpochMs } from '../shared/domain/time.ts';
import type { AuditRecord } from '../shared/ports/audit-log.ts';
import type { ObservedWrite } from '../packages/kube-apiserver/src/types.ts';

export interface TraceEntry {
  readonly time: EpochMs;
  readonly kind: 'write' | 'event' | 'status' | 'audit';
  /** API group of a write's resource, to tell two resources of one name apart; not printed. */
  readonly group: string;
  /** The line as it is printed, `t` and `kind` included. */
  readonly line: JsonObject;
}

export interface Trace {
  readonly entries: readonly TraceEntry[];
  /** A write that the API server accepted. */
  addWrite(write: ObservedWrite, by: string): void;
  /** A call to the cloud, a rule's clean-up, or a hook. */
  addCall(call: {
    readonly by: string;
    readonly verb: 'terminate' | 'reboot' | 'invoke';
    readonly resource: 'instances' | 'cleanups' | 'hooks';
    readonly name: string;
    readonly about?: JsonObject;
  }): void;
  addAudit(record: AuditRecord): void;
}

const EVENT_GROUPS: readonly string[] = ['', 'events.k8s.io'];

/** @param onEntry hears of each entry as it is added */
export function createTrace(now: () => EpochMs, onEntry: (entry: TraceEntry) => void): Trace {
  const entries: TraceEntry[] = [];
  const add = (kind: TraceEntry['kind'], group: string, fields: JsonObject): void => {
    const time = now();
    const entry: TraceEntry = { time, kind, group, line: { t: toIsoText(time), kind, ...fields } };
    entries.push(entry);
    onEntry(entry);
  };
  return {
    entries,
    addWrite(write, by) {
      const { resource, ref } = write;
      if (resource.resource === 'events' && EVENT_GROUPS.includes(resource.group)) {
        // A repetition raises the count of an Event that is in the trace already, unless it says something else.
        const { before, after } = write;
        if (after !== undefined && before?.['message'] !== after['message']) add('event', '', eventFields(after, by));
        return;
      }
      const object = write.after ?? write.before;
      add(isReport(write) ? 'status' : 'write', resource.group, {
        by,
        verb: write.verb,
        resource: resource.resource,
        namespace: ref.namespace,
        name: ref.name,
        uid: object?.metadata.uid,
        subresource: write.subresource,
        gracePeriodSeconds: write.gracePeriodSeconds,
        body: toJson(write.body),
      });
    },
    addCall: call => add('write', '', { ...call }),
    addAudit({ kind, namespace, name, uid, ...record }) {
      const about = { kind, namespace, name, uid };
      add('audit', '', { ...record, namespace, name, uid, about });
    },
  };
}

/** The status of a policy says how things stand, as an Event does; it changes nothing. */
const isReport = ({ resource, subresource }: ObservedWrite): boolean =>
  resource.group === CURFEW_GROUP && resource.resource === 'nodelifecyclepolicies' && subresource === 'status';

function eventFields(event: Readonly<Record<string, unknown>>, by: string): JsonObject {
  const { type, reason, message, involvedObject } = event;
  const about: { readonly [key: string]: unknown } = isJsonObject(involvedObject) ? involvedObject : {};
  return {
    by,
    type: toJson(type),
    reason: toJson(reason),
    message: toJson(message),
    about: {
      kind: toJson(about['kind']),
      namespace: toJson(about['namespace']),
      name: toJson(about['name']),
      uid: toJson(about['uid']),
    },
  };
}

/** What goes into the trace is what JSON can say; anything else is left out. */
function toJson(value: unknown): JsonValue | undefined {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** One line of `--output jsonl`. */
export function formatLine({ line }: TraceEntry): string {
  return JSON.stringify(line);
}
