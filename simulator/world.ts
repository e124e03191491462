/** The simulated cluster at the start of a scenario, and the changes that the scenario's author makes to it. */
import type {
  JsonObject,
  KubernetesManifest,
  KubernetesObject,
  ObjectRef,
} from '../shared/domain/kubernetes-object.ts';
import { apiVersionOf } from '../shared/domain/kubernetes-object.ts';
import { messageOf } from '../shared/errors.ts';
import { createApiServer } from '../packages/kube-apiserver/src/api-server.ts';
import { arrayAt, copyObject, equalJson, isObject, objectAt, textAt } from '../packages/kube-apiserver/src/json.ts';
import { mergePatch } from '../packages/kube-apiserver/src/patch/merge.ts';
import type { ApiServerCore } from '../packages/kube-apiserver/src/types.ts';
import { customResourceDefinitions } from './custom-resource-definitions.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import { RESOURCE_TYPES, unlessRefused } from './actors/actor.ts';
import { withCondition } from './conditions.ts';
import { configuredData, customDrainNamespace } from './configured-kinds.ts';
import { CONFIG_MAP } from '../shared/contract/names.ts';
import { openDefinition } from './open-definitions.ts';
import {
  resourceOfManifest,
  resourcesNamed,
  type KnownResource,
  type ResourceCatalog,
} from './scenario/resource-names.ts';
import type { Manifest, Scenario, ScenarioFault, StatedCondition, TargetRef } from './scenario/scenario.ts';

/** Who the scenario's author is to the API server. */
const AUTHOR = 'scenario';

export interface World {
  readonly core: ApiServerCore;
  /** Creates the object, or merges into the one that is there; status included. Throws `ApiStatusError` for what is refused, as `patch` does. */
  apply(manifest: Manifest): void;
  /** RFC 7386 on the whole object, status included. Answers whether the object was there. */
  patch(target: TargetRef, merge: JsonObject): boolean;
  /** Sets one condition of a Node. Answers whether the Node was there. */
  setCondition(node: string, condition: StatedCondition): boolean;
  /** Answers whether the object was there. */
  remove(target: TargetRef, gracePeriodSeconds: number | undefined): boolean;
  get(target: TargetRef): KubernetesObject | undefined;
}

/** A server with the resources and namespaces that every scenario finds. */
export function createCluster(clock: { now(): number }): ApiServerCore {
  const core = createApiServer({ clock });
  for (const definition of customResourceDefinitions()) core.seed(openDefinition(definition));
  core.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONFIG_MAP.namespace } });
  return core;
}

/** What that server serves, for checking files before anything runs. */
export function clusterCatalog(): ResourceCatalog {
  return { resources: createCluster({ now: () => 0 }).resources() };
}

/** An object of a scenario that the API server cannot store; only storing it shows that. */
export class UnusableObject extends Error {
  readonly fault: ScenarioFault;

  constructor(fault: ScenarioFault, options: ErrorOptions) {
    super(fault.message, options);
    this.name = 'UnusableObject';
    this.fault = fault;
  }
}

/** Throws `UnusableObject`. */
export function createWorld(scenario: Scenario, scheduler: Scheduler): World {
  const core = createCluster(scheduler);

  const find = ({ resource: text, namespace, name }: TargetRef): ObjectRef | undefined => {
    const [resource] = resourcesNamed(text, core.resources());
    return resource === undefined ? undefined : refOf(resource, namespace, name);
  };
  const get = (ref: ObjectRef): KubernetesObject | undefined => unlessRefused(() => core.get(ref));

  const ensureNamespace = (name: string): void => {
    const ref: ObjectRef = { type: { group: '', version: 'v1', resource: 'namespaces' }, name };
    if (get(ref) === undefined) core.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  };

  /** Stores the object as it is, in the version that is served. */
  const store = ({ kind, body }: Manifest, ref: ObjectRef): void => {
    if (ref.namespace !== undefined) ensureNamespace(ref.namespace);
    core.seed(asManifest(withPodDefaults({ ...body, kind, apiVersion: apiVersionOf(ref.type) })));
  };

  /**
   * Stores a merge as the API server would have: the generation counts it, what its definition lets nobody change stays as it is
   * (`ApiStatusError`), and what was held by its last finalizer alone goes.
   */
  const merge = (existing: KubernetesObject, change: JsonObject, ref: ObjectRef): void => {
    const old = copyObject(existing);
    core.seed(asManifest(withNextGeneration(old, mergePatch(old, change))), { keepsTransitions: true });
    const { deletionTimestamp, finalizers = [] } = get(ref)?.metadata ?? {};
    if (deletionTimestamp === undefined || finalizers.length > 0) return;
    unlessRefused(() => core.patch(ref, { type: 'merge', body: {} }, { user: AUTHOR }));
  };
  const targetOf = (manifest: Manifest): ObjectRef => {
    const resource = resourceOfManifest(manifest, core.resources());
    if (resource === undefined)
      throw new Error(
        `${manifest.apiVersion} ${manifest.kind} cannot be served: its CustomResourceDefinition is not usable`,
      );
    return refOf(resource, manifest.namespace, manifest.name);
  };

  const apply = (manifest: Manifest): void => {
    const ref = targetOf(manifest);
    const existing = get(ref);
    if (existing === undefined) store(manifest, ref);
    else merge(existing, { ...manifest.body, apiVersion: existing.apiVersion }, ref);
  };

  for (const { manifest, place } of scenario.objects.toSorted((a, b) => rank(a.manifest) - rank(b.manifest))) {
    try {
      store(manifest, targetOf(manifest));
    } catch (error) {
      throw new UnusableObject({ place, message: messageOf(error) }, { cause: error });
    }
  }
  for (const data of configuredData(scenario)) {
    const namespace = customDrainNamespace(data);
    if (namespace !== undefined) ensureNamespace(namespace);
  }
  const configMap = configMapOf(scenario);
  if (configMap !== undefined) core.seed(configMap);

  return {
    core,
    apply,
    patch(target, change) {
      const ref = find(target);
      const existing = ref && get(ref);
      if (ref === undefined || existing === undefined) return false;
      merge(existing, change, ref);
      return true;
    },
    setCondition(name, condition) {
      const ref: ObjectRef = { type: RESOURCE_TYPES.nodes, name };
      const existing = get(ref);
      if (existing === undefined) return false;
      merge(existing, { status: { conditions: withCondition(existing, condition, scheduler.now()) } }, ref);
      return true;
    },
    remove(target, gracePeriodSeconds) {
      const ref = find(target);
      if (ref === undefined || get(ref) === undefined) return false;
      core.delete(ref, { user: AUTHOR, ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }) });
      return true;
    },
    get(target) {
      const ref = find(target);
      return ref && get(ref);
    },
  };
}

function refOf(known: KnownResource, namespace: string | undefined, name: string): ObjectRef {
  const { group, version, resource, namespaced } = known;
  const type = { group, version, resource };
  return namespaced ? { type, namespace: namespace ?? 'default', name } : { type, name };
}

/** Namespaces are permanent neighbours of what is in them, and definitions must be there before what they define. */
function rank({ kind }: Manifest): number {
  return kind === 'CustomResourceDefinition' ? 0 : kind === 'Namespace' ? 1 : 2;
}

function configMapOf({ config, templates }: Scenario): KubernetesManifest | undefined {
  if (config === undefined && Object.keys(templates).length === 0) return undefined;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: CONFIG_MAP.namespace, name: CONFIG_MAP.name },
    data: { ...templates, ...(config !== undefined && { [CONFIG_MAP.key]: config }) },
  };
}

/** The generation counts what is wanted: everything but metadata and status. Unless the author says which generation it is. */
function withNextGeneration(old: JsonObject, next: JsonObject): JsonObject {
  const { generation } = objectAt(old, 'metadata');
  const metadata = objectAt(next, 'metadata');
  if (typeof generation !== 'number' || metadata['generation'] !== generation) return next;
  return equalJson(wanted(old), wanted(next))
    ? next
    : { ...next, metadata: { ...metadata, generation: generation + 1 } };
}

const wanted = (object: JsonObject): JsonObject => ({ ...object, metadata: null, status: null });

const DEFAULT_GRACE_PERIOD_SECONDS = 30;

/**
 * What a cluster would have filled in for a pod: its grace period, its phase, and that it is ready, as far as the manifest does not
 * say otherwise. `status.startTime` is left alone: rules depend on whether it is there.
 */
function withPodDefaults(object: JsonObject): JsonObject {
  if (object['kind'] !== 'Pod') return object;
  const spec = { terminationGracePeriodSeconds: DEFAULT_GRACE_PERIOD_SECONDS, ...objectAt(object, 'spec') };
  const isBound = (textAt(spec, 'nodeName') ?? '') !== '';
  const status: JsonObject = { phase: isBound ? 'Running' : 'Pending', ...objectAt(object, 'status') };
  const conditions = arrayAt(status, 'conditions');
  const saysReady = conditions.some(condition => isObject(condition) && condition['type'] === 'Ready');
  if (saysReady || status['phase'] !== 'Running') return { ...object, spec, status };
  return { ...object, spec, status: { ...status, conditions: [...conditions, { type: 'Ready', status: 'True' }] } };
}

/** The scenario's schema has checked that these fields are there. */
function asManifest(object: JsonObject): KubernetesManifest {
  const { apiVersion, kind, metadata } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isObject(metadata)) {
    throw new TypeError('a manifest has apiVersion, kind and metadata');
  }
  return { ...object, apiVersion, kind, metadata };
}
