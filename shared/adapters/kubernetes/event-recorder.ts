/**
 * `EventRecorder` on core/v1 Events, as `kubectl describe` shows them: one Event per object and reason. Its name is made of both, so
 * that a repetition, from any process, finds the Event it repeats, raises its count and brings its message up to date. Most are said
 * once, so each is created first and read only when it is there already.
 */
import { hash } from 'node:crypto';
import { RESOURCES } from '../../contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../../domain/kubernetes-object.ts';
import { cutToBytes, printable } from '../../domain/printable.ts';
import { toTimestamp } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder, ObjectEvent } from '../../ports/event-recorder.ts';
import type { KubernetesApi } from '../../ports/kubernetes-api.ts';
import { objectOf } from '../../ports/read-answer.ts';

const EVENT_COMPONENT = 'curfew';
/** The API server's limit on a message, in bytes. */
const MAX_MESSAGE_BYTES = 1024;
/** Events about cluster-scoped objects are only accepted in this namespace. */
const CLUSTER_SCOPED_NAMESPACE = 'default';
const MAX_NAME_CHARS = 253;
const HASH_CHARS = 16;
/** An Event may expire or be created by another process between the look and the write. */
const MAX_ATTEMPTS = 3;

export interface EventRecorderDeps {
  readonly kubernetes: Pick<KubernetesApi, 'get' | 'create' | 'patch'>;
  readonly clock: Clock;
  /** `reportingInstance`: which function or process speaks. */
  readonly instance: string;
  /** An Event that could not be recorded: to the log, never to the caller. */
  readonly onFailure: (event: ObjectEvent, error: unknown) => void;
}

/** `record` never rejects: a decision does not fail because it could not be told. `onFailure` gets the reason. */
export function createEventRecorder(deps: EventRecorderDeps): EventRecorder {
  return {
    async record(event) {
      try {
        const refused = await recordOnce(event, deps);
        if (refused !== undefined) deps.onFailure(event, new Error(refused));
      } catch (error) {
        deps.onFailure(event, error);
      }
    },
  };
}

/** Returns why it was not recorded, or undefined. Most Events are new, so it is created first: one call in place of two. */
async function recordOnce(event: ObjectEvent, deps: EventRecorderDeps): Promise<string | undefined> {
  const namespace = event.about.metadata.namespace ?? CLUSTER_SCOPED_NAMESPACE;
  const ref = { type: RESOURCES.Event, namespace, name: eventName(event) };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const now = toTimestamp(deps.clock.now());
    const created = await deps.kubernetes.create(RESOURCES.Event, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: ref.name, namespace },
      ...eventBody(event, deps.instance, now),
    });
    if (created.kind === 'ok') return undefined;
    if (created.kind === 'invalid') return created.message;
    if (created.kind === 'notFound') return `namespace ${namespace} is missing or terminating`;
    const existing = objectOf(await deps.kubernetes.get(ref), { ifNotServed: 'empty' });
    if (existing !== undefined) {
      // No precondition: two recorders that raise the count at the same time lose one count, which hurts nobody, and meet no conflict.
      const body = { ...raised(existing, now), message: textOf(event), reportingInstance: deps.instance };
      const patched = await deps.kubernetes.patch(ref, { type: 'merge', body });
      if (patched.kind === 'ok') return undefined;
    }
    // Expired in between: created again.
  }
  return `the Event changed ${MAX_ATTEMPTS} times in between`;
}

/** `<object>.<hash of object and reason>`, a valid object name whatever the object is called. */
export function eventName({ type, reason, about }: ObjectEvent): string {
  const { uid, name, namespace } = about.metadata;
  const what = JSON.stringify([about.apiVersion, about.kind, namespace, name, uid, type, reason]);
  const digest = hash('sha256', what, 'hex').slice(0, HASH_CHARS);
  const stem = name
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '-')
    .slice(0, MAX_NAME_CHARS - HASH_CHARS - 1)
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
    // No label between two dots may start or end with a dash.
    .replace(/-*\.[-.]*/g, '.');
  return stem === '' ? digest : `${stem}.${digest}`;
}

function eventBody(event: ObjectEvent, instance: string, now: string): JsonObject {
  const { type, reason, about } = event;
  return {
    type,
    reason,
    message: textOf(event),
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      name: about.metadata.name,
      namespace: about.metadata.namespace,
      uid: about.metadata.uid,
    },
    source: { component: EVENT_COMPONENT },
    reportingComponent: EVENT_COMPONENT,
    reportingInstance: instance,
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
}

const textOf = ({ message }: ObjectEvent): string => cutToBytes(printable(message), MAX_MESSAGE_BYTES);

function raised(existing: KubernetesObject, now: string): JsonObject {
  const count = existing['count'];
  return { count: (typeof count === 'number' ? count : 1) + 1, lastTimestamp: now };
}
