/**
 * The trace of a run, in order (schema: `packages/timeline/src/trace/lines.ts`): each write of Curfew that took effect, each Kubernetes
 * Event it recorded, each status of a policy that it wrote, each audit record; what the scenario, the actors and the cloud did; and, where the
 * run is asked for it, what became of each object.
 */
import type { TraceLine } from '../packages/timeline/src/trace/lines.ts';
import { CURFEW_GROUP } from '../shared/contract/names.ts';
import { isJsonObject } from '../shared/domain/json.ts';
import type { JsonObject, JsonValue, ResourceType } from '../shared/domain/kubernetes-object.ts';
import { toIsoText, type EpochMs } from '../shared/domain/time.ts';
import type { AuditRecord } from '../shared/ports/audit-log.ts';
import type { ObservedWrite } from '../packages/kube-apiserver/src/types.ts';
import type { BuriedMessage } from '../runtime/system-parts.ts';

export interface TraceEntry {
  readonly time: EpochMs;
  readonly kind: TraceLine['kind'];
  /** API group of a write's resource, to tell two resources of one name apart; not printed. */
  readonly group: string;
  /** The line as it is printed, `t` and `kind` included. */
  readonly line: JsonObject;
}

/** The text of a line's field; empty where it has none. */
export const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

/** What a step of the scenario was. */
export interface RecordedStep {
  readonly action: string;
  readonly text: string;
  readonly about?: JsonObject | undefined;
  /** Why it had no effect. */
  readonly problem?: string | undefined;
}

export interface Trace {
  readonly entries: readonly TraceEntry[];
  /** Lets the first so many go: a run that never ends keeps the last ones. */
  forget(count: number): void;
  /** A write that the API server accepted. */
  addWrite(write: ObservedWrite, by: string): void;
  /** A call to the cloud, a rule's clean-up, or a hook. */
  addCall(call: {
    readonly by: string;
    readonly verb: 'terminate' | 'reboot' | 'invoke';
    readonly resource: 'instances' | 'cleanups' | 'hooks';
    readonly name: string;
    readonly body?: JsonObject;
    readonly about?: JsonObject;
  }): void;
  addAudit(record: AuditRecord): void;
  addStep(step: RecordedStep): void;
  /** A write of what stands around Curfew. */
  addActor(write: ObservedWrite, by: string): void;
  addInstance(providerID: string, state: string): void;
  addBuried(message: BuriedMessage): void;
  addObject(
    object: ResourceType & { readonly namespace?: string | undefined; readonly name: string } & (
        { readonly object: JsonObject } | { readonly change: JsonObject } | { readonly gone: true }
      ),
  ): void;
  addPolicy(policy: JsonObject): void;
  addRules(rules: JsonObject): void;
}

const EVENT_GROUPS: readonly string[] = ['', 'events.k8s.io'];

export function createTrace(now: () => EpochMs): Trace {
  const entries: TraceEntry[] = [];
  const add = (kind: TraceEntry['kind'], group: string, fields: JsonObject): void => {
    const time = now();
    entries.push({ time, kind, group, line: { t: toIsoText(time), kind, ...fields } });
  };
  return {
    entries,
    forget: count => void entries.splice(0, count),
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
    addStep: step => add('step', '', { by: 'scenario', ...step }),
    addActor({ verb, resource, ref, subresource, before, after }, by) {
      const isGone = before !== undefined && after === undefined;
      add('actor', resource.group, {
        by,
        verb,
        resource: resource.resource,
        namespace: ref.namespace,
        name: ref.name,
        uid: (after ?? before)?.metadata.uid,
        subresource,
        ...(isGone && { gone: true }),
      });
    },
    addInstance: (providerID, state) => add('instance', '', { providerID, state }),
    addBuried: ({ function: by, reason, explanation }) => add('buried', '', { by, reason, message: explanation }),
    addObject: ({ group, ...fields }) => add('object', group, { group, ...fields }),
    addPolicy: policy => add('policy', '', policy),
    addRules: rules => add('rules', '', rules),
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

/** One line of the trace. */
export function formatLine({ line }: Pick<TraceEntry, 'line'>): string {
  return JSON.stringify(line);
}
