/** The author of a scenario on a real cluster: creates its objects and carries its steps out through the API, status included. */
import type { JsonObject, KubernetesObject, ObjectRef } from '../../../shared/domain/kubernetes-object.ts';
import { apiVersionOf } from '../../../shared/domain/kubernetes-object.ts';
import { arrayAt, isObject, objectAt, textAt } from '../../../packages/kube-apiserver/src/json.ts';
import {
  resourceOfManifest,
  resourcesNamed,
  type KnownResource,
  type ResourceCatalog,
} from '../../../simulator/scenario/resource-names.ts';
import type { Manifest, Scenario, TargetRef } from '../../../simulator/scenario/scenario.ts';
import { CONFIG_MAP } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { KindNotServed } from '../../../shared/ports/read-answer.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import { objectAt as liveObjectAt } from '../../fakes/objects.ts';

const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' };

export interface Author {
  /** Creates what the scenario finds at its start. */
  prepare(scenario: Scenario): Promise<void>;
  apply(manifest: Manifest): Promise<void>;
  patch(target: TargetRef, merge: JsonObject): Promise<void>;
  remove(target: TargetRef, gracePeriodSeconds: number | undefined): Promise<void>;
  get(target: TargetRef): Promise<KubernetesObject | undefined>;
  /** Removes everything that was created, whatever holds it. */
  clear(): Promise<void>;
}

/** @param kubernetes allowed to do everything */
export function createAuthor(kubernetes: KubernetesApi, { resources }: ResourceCatalog): Author {
  const touched = new Map<string, ObjectRef>();

  const refOf = (known: KnownResource, namespace: string | undefined, name: string): ObjectRef => {
    const { group, version, resource, namespaced } = known;
    const type = { group, version, resource };
    const ref = namespaced ? { type, namespace: namespace ?? 'default', name } : { type, name };
    touched.set(JSON.stringify(ref), ref);
    return ref;
  };
  const find = ({ resource, namespace, name }: TargetRef): ObjectRef => {
    const [known] = resourcesNamed(resource, resources);
    if (known === undefined) throw new Error(`no resource is named ${resource}`);
    return refOf(known, namespace, name);
  };

  const merge = async (ref: ObjectRef, { status, ...rest }: JsonObject): Promise<void> => {
    if (Object.keys(rest).length > 0) await must(kubernetes.patch(ref, { type: 'merge', body: rest }));
    if (status === undefined) return;
    await must(kubernetes.patch(ref, { type: 'merge', body: { status } }, { subresource: 'status' }));
  };

  async function apply(manifest: Manifest): Promise<void> {
    const known = resourceOfManifest(manifest, resources);
    if (known === undefined) throw new Error(`${manifest.apiVersion} ${manifest.kind} is not served`);
    const ref = refOf(known, manifest.namespace, manifest.name);
    if (ref.namespace !== undefined) await ensureNamespace(ref.namespace);
    const { status, ...body } = withRunningPod({ ...manifest.body, apiVersion: apiVersionOf(ref.type) });
    const metadata = {
      ...objectAt(body, 'metadata'),
      name: ref.name,
      ...(ref.namespace !== undefined && { namespace: ref.namespace }),
    };
    const outcome = await kubernetes.create(ref.type, {
      apiVersion: apiVersionOf(ref.type),
      kind: manifest.kind,
      ...body,
      metadata,
    });
    if (outcome.kind === 'exists') await merge(ref, { ...body, ...(status !== undefined && { status }) });
    else if (outcome.kind !== 'ok') throw new Error(`${manifest.kind} ${ref.name}: ${JSON.stringify(outcome)}`);
    else if (status !== undefined) await merge(ref, { status });
  }

  async function ensureNamespace(name: string): Promise<void> {
    if ((await liveObjectAt(kubernetes, { type: NAMESPACES, name })) !== undefined) return;
    await kubernetes.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }

  async function configure({ config, templates }: Scenario): Promise<void> {
    const { namespace, name, key } = CONFIG_MAP;
    const data = { ...templates, ...(config !== undefined && { [key]: config }) };
    if (Object.keys(data).length === 0) return;
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data };
    await apply({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name, body });
  }

  async function clearObject(ref: ObjectRef): Promise<void> {
    await kubernetes.delete(ref, {
      preconditions: {},
      ...(ref.type.resource === RESOURCES.Pod.resource && { gracePeriodSeconds: 0 }),
    });
    await kubernetes.patch(ref, { type: 'merge', body: { metadata: { finalizers: null } } });
  }

  return {
    apply,
    patch: (target, change) => merge(find(target), change),
    async remove(target, gracePeriodSeconds) {
      const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
      await kubernetes.delete(find(target), { preconditions: {}, ...grace });
    },
    get: target => liveObjectAt(kubernetes, find(target)),
    async prepare(scenario) {
      await configure(scenario);
      for (const { manifest } of scenario.objects) await apply(manifest);
    },
    async clear() {
      for (const ref of touched.values()) await unlessGone(clearObject(ref));
      touched.clear();
    },
  };
}

/** An object whose definition went first is gone with it. */
async function unlessGone(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof KindNotServed)) throw error;
  });
}

async function must(write: Promise<{ readonly kind: string }>): Promise<void> {
  const outcome = await write;
  if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
}

/** What a kubelet would have said of a pod on a node: it runs and is ready, as far as the manifest does not say otherwise. */
function withRunningPod(object: JsonObject): JsonObject {
  const spec = objectAt(object, 'spec');
  if (object['kind'] !== 'Pod' || (textAt(spec, 'nodeName') ?? '') === '') return object;
  const status: JsonObject = { phase: 'Running', ...objectAt(object, 'status') };
  const conditions = arrayAt(status, 'conditions');
  const saysReady = conditions.some(condition => isObject(condition) && condition['type'] === 'Ready');
  const ready = saysReady ? conditions : [...conditions, { type: 'Ready', status: 'True' }];
  return { ...object, status: { ...status, conditions: ready } };
}
