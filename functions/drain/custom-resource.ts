/** Finds, creates and deletes the custom resource of a drain. */
import { oneByOne } from '../../shared/cluster/in-parallel.ts';
import { ANNOTATIONS } from '../../shared/contract/names.ts';
import { deleteExactly } from '../../shared/custom-resource/delete.ts';
import { podsToDrain, renderDrainResource } from '../../shared/custom-resource/drain-template.ts';
import { lookUpResource, uidWithMark, type Mark } from '../../shared/custom-resource/follow.ts';
import { faultText } from '../../shared/custom-resource/render.ts';
import { requestResource } from '../../shared/custom-resource/request.ts';
import { drainResourceName } from '../../shared/domain/drain-resource-name.ts';
import type { CustomDrainSettings } from '../../shared/domain/drain-settings.ts';
import { apiVersionOf, refOf, type ObjectRef, type ResourceType } from '../../shared/domain/kubernetes-object.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import type { About } from '../../shared/lifecycle/reporter.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import type { DrainedNode, FoundResource } from './rule/observation.ts';
import { recordedResource } from './rule/phase.ts';
import type { ActiveDrain, CustomProgress, DrainRecord } from './record.ts';

interface Deps {
  readonly kubernetes: Pick<KubernetesApi, 'get' | 'create' | 'delete' | 'resolve' | 'versionsOf'>;
}

/** NVSentinel's label on a drain's custom resource: the node's name, where a label can hold it. */
const NODE_LABEL = 'nvsentinel.nvidia.com/node-name';
const MAX_LABEL_LENGTH = 63;

/**
 * Looks for the custom resource under the name that it has, or will have. If it is not there in its known version, it may be in the version that
 * the configuration names now: it is the same object.
 */
export async function findResource(
  { kubernetes }: Deps,
  settings: CustomDrainSettings | undefined,
  active: ActiveDrain | undefined,
  node: DrainedNodeName,
): Promise<FoundResource> {
  if (settings === undefined || active === undefined) return { kind: 'notAsked' };
  const { apiGroup: group, version, kind, namespace } = settings;
  const custom = recordedResource(active);
  if (custom === undefined) {
    const requestedKind = { group, version, kind };
    const type = await typeOf({ kubernetes }, settings);
    if (type === undefined)
      return { kind: 'notServed', requestedKind, versions: await kubernetes.versionsOf(requestedKind) };
    return await findIn(
      { kubernetes },
      type,
      { kind, namespace, name: drainResourceName(node.name, active.id) },
      { active, node },
    );
  }
  const recordedType = { group: custom.group, version: custom.version, resource: custom.resource };
  const seen = await findIn({ kubernetes }, recordedType, custom, { active, node });
  const isRenamed = custom.group === group && custom.kind === kind && custom.version !== version;
  if (seen.kind === 'present' || !isRenamed) return seen;
  return await findIn({ kubernetes }, { ...recordedType, version }, custom, { active, node });
}

/** The kind of the configuration; undefined: it is not served. */
async function typeOf(
  { kubernetes }: Pick<Deps, 'kubernetes'>,
  { apiGroup: group, version, kind, resource }: CustomDrainSettings,
): Promise<ResourceType | undefined> {
  return resource === undefined ? kubernetes.resolve({ group, version, kind }) : { group, version, resource };
}

async function findIn(
  { kubernetes }: Deps,
  type: ResourceType,
  { kind, namespace, name }: Pick<CustomProgress, 'kind' | 'namespace' | 'name'>,
  { active, node }: { readonly active: ActiveDrain; readonly node: DrainedNodeName },
): Promise<FoundResource> {
  const expected = { mark: markOf(active, node), uid: recordedResource(active)?.uid, kind };
  const found = await lookUpResource(kubernetes, { type, namespace, name }, expected);
  return found.kind === 'notServed' ? { ...found, requestedKind: { ...type, kind } } : { ...found, name, type };
}

type DrainedNodeName = Pick<DrainedNode, 'name' | 'uid'>;

/** The mark of the drain that a custom resource was made for. @param node whose drain it is: ids may be used again for another one (I10) */
const markOf = ({ id }: Pick<ActiveDrain, 'id'>, node?: DrainedNodeName): Mark => ({
  annotation: ANNOTATIONS.drainUnderWay,
  value: id,
  ...(node && { subjectUid: node.uid }),
});

export type Creation =
  | { readonly kind: 'created'; readonly uid: string }
  /** Somebody was faster: look again. */
  | { readonly kind: 'exists' }
  /** The resource cannot be created while the configuration, the cluster and the event are as they are. */
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string };

export interface NewResource {
  readonly settings: CustomDrainSettings;
  readonly template: string;
  readonly active: ActiveDrain;
  readonly custom: CustomProgress;
  readonly node: DrainedNodeName;
  /** Pods that the drain is about. */
  readonly pods: readonly PodView[];
}

/** Renders the template and creates the custom resource. */
export async function createResource({ kubernetes }: Deps, wanted: NewResource): Promise<Creation> {
  const { settings, template, active, custom, node, pods } = wanted;
  const [first] = active.requests;
  if (first === undefined)
    return { kind: 'failed', reason: 'NoRequest', message: 'nobody asks for this drain any more' };
  const event = { ...first.event, id: active.id };
  const rendered = renderDrainResource(settings, template, { event, podsToDrain: podsToDrain(pods) }, custom.name);
  if (!rendered.ok)
    return { kind: 'failed', reason: rendered.reason, message: faultText(settings.templateFileName, rendered) };
  const { manifest } = rendered;
  const isLabelled = node.name.length <= MAX_LABEL_LENGTH;
  const labels = { ...manifest.metadata.labels, ...(isLabelled && { [NODE_LABEL]: node.name }) };
  const labelled = { ...manifest, metadata: { ...manifest.metadata, labels } };
  const { group, version, resource } = custom;
  const made = await requestResource(kubernetes, { group, version, resource }, labelled, markOf(active, node));
  switch (made.kind) {
    case 'created':
      return { kind: 'created', uid: made.object.metadata.uid };
    case 'exists':
      return made;
    case 'refused':
      return { ...made, kind: 'failed' };
  }
}

/** A drain with its custom resource. */
export type OfCustomDrain = Pick<ActiveDrain, 'id' | 'phase'>;

/** The ended drains whose custom resources are left. */
export const leftDrains = ({ leftResources = [] }: DrainRecord): readonly OfCustomDrain[] =>
  leftResources.map(({ id, resource }) => ({ id, phase: { kind: 'custom', resource } }));

export interface DrainResource {
  readonly ref: ObjectRef;
  readonly uid: string;
  readonly about: About;
}

/** The custom resource that was made for this drain, also one whose creation was not recorded; undefined: there is none. */
export async function resourceOf(
  { kubernetes }: Deps,
  active: OfCustomDrain | undefined,
): Promise<DrainResource | undefined> {
  const resource = active && recordedResource(active);
  if (active === undefined || resource === undefined) return undefined;
  const { kind, namespace, name } = resource;
  const ref = refOf(resource);
  const uid = resource.uid ?? (await uidWithMark(kubernetes, ref, markOf(active)));
  const apiVersion = apiVersionOf(resource);
  return uid === undefined ? undefined : { ref, uid, about: { apiVersion, kind, metadata: { namespace, name, uid } } };
}

/** Deletes exactly the custom resource of this drain; one that is gone is done. */
export async function deleteResource({ kubernetes }: Deps, active: OfCustomDrain | undefined): Promise<{ kind: 'ok' }> {
  const made = await resourceOf({ kubernetes }, active);
  if (made !== undefined) await deleteExactly(kubernetes, made.ref, made.uid);
  return { kind: 'ok' };
}

/** Deletes the custom resources of these drains: one that must not be deleted stops no other. @throws what tells of all failures */
export async function deleteResources(deps: Deps, drains: readonly OfCustomDrain[]): Promise<{ kind: 'ok' }> {
  await oneByOne(drains, async drain => void (await deleteResource(deps, drain)));
  return { kind: 'ok' };
}

/**
 * Deletes the custom resource of a drain without a record: the one of its name and with its mark, of the kind that the configuration names.
 *
 * @returns `deleted`: what it was
 */
export async function deleteUnrecorded(
  { kubernetes }: Deps,
  settings: CustomDrainSettings | undefined,
  nodeName: string,
  id: string,
): Promise<{ readonly kind: 'ok'; readonly deleted?: string }> {
  const type = settings && (await typeOf({ kubernetes }, settings));
  if (settings === undefined || type === undefined) return { kind: 'ok' };
  const { kind, namespace } = settings;
  const ref = { type, namespace, name: drainResourceName(nodeName, id) };
  const uid = await uidWithMark(kubernetes, ref, markOf({ id }));
  if (uid === undefined) return { kind: 'ok' };
  await deleteExactly(kubernetes, ref, uid);
  return { kind: 'ok', deleted: `${kind} ${namespace}/${ref.name}` };
}
