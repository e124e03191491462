/**
 * disruption: keeps `PodDisruptionBudget.status` current, as the disruption controller does. Where a percentage or
 * `maxUnavailable` needs the number of pods that should be there, it is the owner's `spec.replicas`; for pods whose owner is not in
 * the scenario, the most of them that were there at one time.
 */
import type { JsonObject, KubernetesObject, OwnerReference } from '../../shared/domain/kubernetes-object.ts';
import { equalJson, isObject } from '../../packages/kube-apiserver/src/json.ts';
import { labelSelectorMatches } from '../../packages/kube-apiserver/src/selectors/label-selector.ts';
import { expectedPods, hasFinished, nextStatus, type KnownOwners } from './disruption-budget.ts';
import { follow, refOf, RESOURCE_TYPES, unlessRefused, type ActorApi, type StartActor } from './actor.ts';

const USER = 'actor:disruption';
const NOTHING: JsonObject = {};

export const startDisruption: StartActor = ({ core, scheduler }) => {
  const dirty = new Set<string>();
  /** By budget. */
  const owners = new Map<string, KnownOwners>();

  const update = (budget: KubernetesObject): void => {
    const pods = matchingPods(core, budget);
    const { uid } = budget.metadata;
    const known: KnownOwners = owners.get(uid) ?? new Map();
    owners.set(uid, known);
    const expected = expectedPods(pods, known, owner => replicasOf(core, budget.metadata.namespace ?? '', owner));
    const { status, recheck } = nextStatus(budget, pods, expected, scheduler.now());
    if (recheck !== undefined) scheduler.at(recheck, () => markDirty(budget.metadata.namespace ?? ''));
    if (equalJson(status, budget.status ?? NOTHING)) return;
    unlessRefused(() =>
      core.update(
        refOf(RESOURCE_TYPES.poddisruptionbudgets, budget),
        { ...budget, status },
        { user: USER, subresource: 'status' },
      ),
    );
  };

  const markDirty = (namespace: string): void => {
    if (dirty.has(namespace)) return;
    dirty.add(namespace);
    scheduler.at(scheduler.now(), () => {
      dirty.delete(namespace);
      for (const budget of core.list(RESOURCE_TYPES.poddisruptionbudgets, { namespace }).items) update(budget);
    });
  };

  const changed = ({ metadata }: KubernetesObject): void => markDirty(metadata.namespace ?? '');
  const budgetsIn = (namespace: string): boolean =>
    core.list(RESOURCE_TYPES.poddisruptionbudgets, { namespace, limit: 1 }).items.length > 0;
  const podChanged = (pod: KubernetesObject): void => {
    if (budgetsIn(pod.metadata.namespace ?? '')) changed(pod);
  };
  follow(core, RESOURCE_TYPES.poddisruptionbudgets, changed, ({ metadata }) => owners.delete(metadata.uid));
  follow(core, RESOURCE_TYPES.pods, podChanged, podChanged);
};

function matchingPods(core: ActorApi, { metadata, spec = NOTHING }: KubernetesObject): readonly KubernetesObject[] {
  const { selector } = spec;
  if (!isObject(selector)) return [];
  const { items } = core.list(RESOURCE_TYPES.pods, { namespace: metadata.namespace ?? '' });
  return items.filter(pod => labelSelectorMatches(selector, { ...pod.metadata.labels }) && !hasFinished(pod));
}

/** `spec.replicas` of an owner; undefined when it is not there or has none. */
function replicasOf(core: ActorApi, namespace: string, owner: OwnerReference): number | undefined {
  const resource = core.resourceForKind(owner.apiVersion, owner.kind);
  if (resource === undefined) return undefined;
  const object = unlessRefused(() => core.get({ type: resource, namespace, name: owner.name }));
  const replicas = object?.metadata.uid === owner.uid ? object.spec?.['replicas'] : undefined;
  return typeof replicas === 'number' ? replicas : undefined;
}
