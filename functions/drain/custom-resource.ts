/** Finds, creates and deletes the custom resource of a drain. */
import { deleteExactly } from '../../shared/cluster/delete-exactly.ts';
import { findInAnyVersion } from '../../shared/cluster/other-versions.ts';
import { renderDrainResource } from '../../shared/cluster/drain-template.ts';
import type { CustomDrainSettings } from '../../shared/domain/drain-settings.ts';
import { drainResourceName } from '../../shared/domain/drain-resource-name.ts';
import {
  apiVersionOf,
  type GroupVersionKind,
  type KubernetesObject,
  type ObjectRef,
  type ResourceType,
} from '../../shared/domain/kubernetes-object.ts';
import type { About } from '../../shared/lifecycle/reporter.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import type { SeenResource } from './custom.ts';
import type { ActiveDrain, CustomProgress } from './model.ts';
import type { PodView } from '../../shared/domain/pod.ts';

interface Deps {
  readonly kubernetes: Pick<KubernetesApi, 'get' | 'create' | 'delete' | 'resolve' | 'versionsOf'>;
}

/** NVSentinel's label on a drain's custom resource: the node's name, where a label can hold it. */
const NODE_LABEL = 'nvsentinel.nvidia.com/node-name';
/** Which drain it was made for. */
const DRAIN_ANNOTATION = 'curfew.dev/drain';
const MAX_LABEL_LENGTH = 63;

/**
 * Looks for it under the name that it has, or will have. What is not seen in the version in which it is known may be there in the one that the
 * configuration names now: it is the same object.
 */
export async function findResource(
  { kubernetes }: Deps,
  settings: CustomDrainSettings | undefined,
  active: ActiveDrain | undefined,
  nodeName: string,
): Promise<SeenResource> {
  if (settings === undefined || active === undefined) return { kind: 'notAsked' };
  const { apiGroup: group, version, kind, resource, namespace } = settings;
  const { custom } = active;
  if (custom === undefined) {
    const asked = { group, version, kind };
    const type = resource === undefined ? await kubernetes.resolve(asked) : { group, version, resource };
    if (type === undefined) return await notServed({ kubernetes }, asked);
    return await lookIn(
      { kubernetes },
      type,
      { kind, namespace, name: drainResourceName(nodeName, active.id) },
      active,
    );
  }
  const known = { group: custom.group, version: custom.version, resource: custom.resource };
  const seen = await lookIn({ kubernetes }, known, custom, active);
  const isRenamed = custom.group === group && custom.kind === kind && custom.version !== version;
  if (seen.kind === 'present' || !isRenamed) return seen;
  return await lookIn({ kubernetes }, { ...known, version }, custom, active);
}

async function lookIn(
  { kubernetes }: Deps,
  type: ResourceType,
  { kind, namespace, name }: Pick<CustomProgress, 'kind' | 'namespace' | 'name'>,
  active: ActiveDrain,
): Promise<SeenResource> {
  const answer = await kubernetes.get({ type, namespace, name });
  if (answer.kind === 'notServed') return await notServed({ kubernetes }, { ...type, kind });
  if (answer.kind === 'notThere') return { kind: 'absent', name, type };
  const { object } = answer;
  return { kind: 'present', name, type, object, ours: isOurs(object, active) };
}

const notServed = async ({ kubernetes }: Deps, kind: GroupVersionKind): Promise<SeenResource> => ({
  kind: 'notServed',
  asked: kind,
  versions: await kubernetes.versionsOf(kind),
});

const isOurs = ({ metadata }: KubernetesObject, { id }: ActiveDrain): boolean =>
  metadata.annotations?.[DRAIN_ANNOTATION] === id;

export type Creation =
  | { readonly kind: 'created'; readonly uid: string }
  /** Somebody was faster: look again. */
  | { readonly kind: 'exists' }
  /** Not while the configuration, the cluster and the event are as they are. */
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string };

export interface NewResource {
  readonly settings: CustomDrainSettings;
  readonly template: string;
  readonly active: ActiveDrain;
  readonly custom: CustomProgress;
  readonly nodeName: string;
  /** Pods that the drain is about. */
  readonly pods: readonly PodView[];
}

/** Renders the template and creates what it says. */
export async function createResource({ kubernetes }: Deps, wanted: NewResource): Promise<Creation> {
  const { settings, template, active, custom, nodeName, pods } = wanted;
  const [first] = active.requests;
  if (first === undefined)
    return { kind: 'failed', reason: 'NoRequest', message: 'nobody asks for this drain any more' };
  const event = { ...first.event, id: active.id };
  const rendered = renderDrainResource(settings, template, { event, podsToDrain: byNamespace(pods) }, custom.name);
  if (!rendered.ok) {
    const place = rendered.line === undefined ? '' : `line ${rendered.line}: `;
    return {
      kind: 'failed',
      reason: rendered.reason,
      message: `${settings.templateFileName}: ${place}${rendered.message}`,
    };
  }
  const { manifest } = rendered;
  const { labels, annotations } = manifest.metadata;
  const metadata = {
    ...manifest.metadata,
    labels: { ...labels, ...(nodeName.length <= MAX_LABEL_LENGTH && { [NODE_LABEL]: nodeName }) },
    annotations: { ...annotations, [DRAIN_ANNOTATION]: active.id },
  };
  const { group, version, resource, kind, namespace } = custom;
  const outcome = await kubernetes.create({ group, version, resource }, { ...manifest, metadata });
  switch (outcome.kind) {
    case 'ok':
      return { kind: 'created', uid: outcome.object.metadata.uid };
    case 'exists':
      return outcome;
    case 'notFound':
      return {
        kind: 'failed',
        reason: 'NamespaceNotFound',
        message: `${kind} cannot be created: namespace ${namespace} is missing`,
      };
    case 'invalid':
      return {
        kind: 'failed',
        reason: 'ResourceRefused',
        message: `the API server refuses the ${kind}: ${outcome.message}`,
      };
  }
}

export interface MadeResource {
  readonly ref: ObjectRef;
  readonly uid: string;
  readonly about: About;
}

/** The one that was made for this drain, also one whose creation was not noted down; undefined: there is none. */
export async function resourceOf(
  { kubernetes }: Deps,
  active: ActiveDrain | undefined,
): Promise<MadeResource | undefined> {
  if (active?.custom === undefined) return undefined;
  const { group, version, resource, kind, namespace, name } = active.custom;
  const ref: ObjectRef = { type: { group, version, resource }, namespace, name };
  const uid = active.custom.uid ?? (await uidOf({ kubernetes }, ref, active));
  const apiVersion = apiVersionOf({ group, version });
  return uid === undefined ? undefined : { ref, uid, about: { apiVersion, kind, metadata: { namespace, name, uid } } };
}

/** Deletes exactly that one; one that is gone is done. */
export async function deleteResource({ kubernetes }: Deps, active: ActiveDrain | undefined): Promise<{ kind: 'ok' }> {
  const made = await resourceOf({ kubernetes }, active);
  if (made !== undefined) await deleteExactly(kubernetes, made.ref, made.uid);
  return { kind: 'ok' };
}

async function uidOf({ kubernetes }: Deps, ref: ObjectRef, active: ActiveDrain): Promise<string | undefined> {
  const found = await findInAnyVersion(kubernetes, ref);
  return found !== undefined && isOurs(found.object, active) ? found.object.metadata.uid : undefined;
}

function byNamespace(pods: readonly PodView[]): Readonly<Record<string, readonly string[]>> {
  const namespaces = Map.groupBy(pods, ({ namespace }) => namespace);
  return Object.fromEntries(
    [...namespaces].map(([namespace, members]) => [namespace, members.map(({ name }) => name).toSorted()]),
  );
}
