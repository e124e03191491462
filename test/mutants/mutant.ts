/** A mistake that somebody could make, as a change of what a function is given or of the rule that it follows. */
import type { PropertyName } from './by-property.ts';
import type { ReplaceableRules as RulesOfObjects } from '../../functions/finalizer/objects/context.ts';
import { createReconciler as createFinalizer } from '../../functions/finalizer/route.ts';
import type { ReplaceableRules as RulesOfTerminations } from '../../functions/finalizer/termination/context.ts';
import { TERMINATION_STEPS } from '../../functions/finalizer/termination/terminate.ts';
import type { ReplaceableRules as RulesOfRepair } from '../../functions/repair/context.ts';
import { decide } from '../../functions/repair/decide.ts';
import { decideNode, judgeNode } from '../../functions/repair/node/decide.ts';
import { createReconciler as createRepair } from '../../functions/repair/route.ts';
import { type ReconcilerFactory, RECONCILERS } from '../../runtime/functions.ts';
import type { ForwarderPorts } from '../../runtime/system-parts.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject, ObjectRef, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import type { DurationMs } from '../../shared/domain/time.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import type { ObjectsAnswer } from '../../shared/ports/read-answer.ts';
import type { NewRecord, RecordStore } from '../../shared/ports/record-store.ts';
import type { InvariantName } from '../../simulator/invariants/invariant.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';

export interface Mutant {
  readonly name: string;
  /** What the mistake is, in words. */
  readonly mistake: string;
  /** Which invariants it breaks: the first violation of a run is of one of them. */
  readonly breaks: readonly InvariantName[];
  /** A seed of the swarm that finds it; absent: none is known yet, `npm run mutants` looks for one. */
  readonly seed?: number;
  /** `FILE#NAME` of an example scenario that finds it: by `breaks`, or by an expectation of its own. */
  readonly scenario?: string;
  /** How long each call takes in the scenario, for a mistake that shows only where the clock goes on meanwhile; absent: no time. */
  readonly callDuration?: DurationMs;
  /** A property of two runs that finds it. */
  readonly property?: PropertyName;
  /** What goes wrong beside the mistake, in the scenario: what is right copes with it. Anew for each run. */
  readonly fault?: () => Fault;
  readonly mutation: Mutation;
}

/** A call of a function, or of the forwarder, that certainly fails. */
export type Fault =
  | { readonly of: FunctionName; readonly ports: (deps: FunctionDeps) => Partial<FunctionDeps> }
  | { readonly of: 'forwarder'; readonly ports: (ports: ForwarderPorts) => Partial<ForwarderPorts> };

/** The function with its ports changed. */
export function withPorts(name: FunctionName, change: (deps: FunctionDeps) => Partial<FunctionDeps>): Mutation {
  const mutant: ReconcilerFactory = deps => original(name)({ ...deps, ...change(deps) });
  return { reconcilers: { [name]: mutant } };
}

/** The function with its ports changed anew for each message. */
export function withPortsOfRun(name: FunctionName, change: (deps: FunctionDeps) => Partial<FunctionDeps>): Mutation {
  const mutant: ReconcilerFactory = deps => message => original(name)({ ...deps, ...change(deps) })(message);
  return { reconcilers: { [name]: mutant } };
}

/** The function with its way to the API server changed. */
export function withKubernetes(name: FunctionName, change: (api: KubernetesApi) => Partial<KubernetesApi>): Mutation {
  return withPorts(name, ({ kubernetes }) => ({ kubernetes: { ...methodsOf(kubernetes), ...change(kubernetes) } }));
}

/** The function that takes what it was asked for as done, whatever went wrong. */
export function withoutErrors(name: FunctionName): Mutation {
  const mutant: ReconcilerFactory = deps => {
    const reconcile = original(name)(deps);
    return message => reconcile(message).catch(() => undefined);
  };
  return { reconcilers: { [name]: mutant } };
}

/** The port's methods as plain fields, so that some can be replaced. */
export function methodsOf(api: KubernetesApi): KubernetesApi {
  return {
    get: ref => api.get(ref),
    list: (type, query, options) => api.list(type, query, options),
    create: (type, manifest) => api.create(type, manifest),
    patch: (ref, patch, options) => api.patch(ref, patch, options),
    delete: (ref, options) => api.delete(ref, options),
    evict: (ref, options) => api.evict(ref, options),
    resolve: kind => api.resolve(kind),
    versionsOf: kind => api.versionsOf(kind),
  };
}

/** The function as it is deployed. */
export const original = (name: FunctionName): ReconcilerFactory => RECONCILERS[name];

/** The function with its way to the store changed. */
export function withRecords(name: FunctionName, change: (records: RecordStore) => Partial<RecordStore>): Mutation {
  return withPorts(name, ({ records }) => ({
    records: {
      get: key => records.get(key),
      put: (record, version) => records.put(record, version),
      delete: (key, version) => records.delete(key, version),
      ...change(records),
    },
  }));
}

/** The function that keeps no record of what it had none of, while the last list that it asked for is of a kind that is not served. */
export function withoutFirstRecord(name: FunctionName): Mutation {
  return withPorts(name, ({ kubernetes, records }) => {
    let isNotServed = false;
    return {
      kubernetes: {
        ...methodsOf(kubernetes),
        async list(type, query, options) {
          const answer = await kubernetes.list(type, query, options);
          isNotServed = answer.kind === 'notServed';
          return answer;
        },
      },
      records: {
        get: key => records.get(key),
        put: async (record, version) =>
          isNotServed && version === 0 ? { kind: 'lostRace' } : await records.put(record, version),
        delete: (key, version) => records.delete(key, version),
      },
    };
  });
}

/** The repair function with other rules. */
export function withRepairRules(change: (rules: RulesOfRepair) => RulesOfRepair): Mutation {
  return { reconcilers: { repair: deps => createRepair(deps, change({ decideNode, decide, judgeNode })) } };
}

/** The finalizer function with other rules. */
export function withRulesOfFinalizer(rules: Partial<RulesOfTerminations & RulesOfObjects>): Mutation {
  return { reconcilers: { finalizer: deps => createFinalizer(deps, rules) } };
}

/** The steps of a termination in another order: `name` comes before `before`. */
export function withMovedStep(name: string, before: string): Mutation {
  const steps = TERMINATION_STEPS.filter(step => step.name !== name);
  const step = TERMINATION_STEPS.find(each => each.name === name);
  if (step === undefined) throw new Error(`there is no step ${name}`);
  const index = steps.findIndex(each => each.name === before);
  return withRulesOfFinalizer({ steps: [...steps.slice(0, index), step, ...steps.slice(index)] });
}

/** The record as a writer leaves it who forgets its timer. */
export function withoutTimer(record: NewRecord): NewRecord {
  const { nextWakeTime: _, ...rest } = record;
  return rest;
}

export type ResourceName = keyof typeof RESOURCES;

export function isA(resource: ResourceName, what: ObjectRef | ResourceType): boolean {
  return ('type' in what ? what.type : what).resource === RESOURCES[resource].resource;
}

/** The object with these annotations beside its own; undefined takes one away. */
export function annotated(
  object: KubernetesObject,
  changes: Readonly<Record<string, string | undefined>>,
): KubernetesObject {
  const merged = Object.entries({ ...object.metadata.annotations, ...changes });
  const annotations = Object.fromEntries(merged.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** The function shown another object of that resource than there is, when it gets one. */
export function withObjects(
  name: FunctionName,
  resource: ResourceName,
  change: (object: KubernetesObject) => KubernetesObject,
): Mutation {
  return withKubernetes(name, api => ({
    async get(ref) {
      const answer = await api.get(ref);
      if (answer.kind !== 'there' || !isA(resource, ref)) return answer;
      return { kind: 'there', object: change(answer.object) };
    },
  }));
}

/** The same for lists. */
export function withListed(
  name: FunctionName,
  resource: ResourceName,
  change: (object: KubernetesObject) => KubernetesObject,
): Mutation {
  return withKubernetes(name, api => ({
    async list(type, query, options) {
      const answer = await api.list(type, query, options);
      if (answer.kind !== 'there' || !isA(resource, type)) return answer;
      return { kind: 'there', objects: answer.objects.map(change) };
    },
  }));
}

/** The function that reads something else in NodePools and policies. @param change of what stands there, as JSON */
export function withSpecs(name: FunctionName, change: (text: string) => string): Mutation {
  const read = (object: KubernetesObject): KubernetesObject =>
    object.spec === undefined ? object : { ...object, spec: JSON.parse(change(JSON.stringify(object.spec))) };
  const isRead = (what: ObjectRef | ResourceType): boolean => isA('NodePool', what) || isA('NodeLifecyclePolicy', what);
  return withKubernetes(name, api => ({
    async get(ref) {
      const answer = await api.get(ref);
      return answer.kind === 'there' && isRead(ref) ? { kind: 'there', object: read(answer.object) } : answer;
    },
    async list(type, query, options) {
      const answer = await api.list(type, query, options);
      return answer.kind === 'there' && isRead(type) ? { ...answer, objects: answer.objects.map(read) } : answer;
    },
  }));
}

/** The mistake of a reader that takes a list that failed for an empty one. */
export const takenForNone = (): ObjectsAnswer => ({ kind: 'there', objects: [] });

/** The function whose patches that take this annotation away are never sent. */
export function withoutRemovalOf(name: FunctionName, annotation: string): Mutation {
  return withKubernetes(name, api => ({
    async patch(ref, patch, options) {
      const isRemoval = patch.type === 'merge' && JSON.stringify(patch.body).includes(`"${annotation}":null`);
      const seen = isRemoval ? await api.get(ref) : undefined;
      return seen?.kind === 'there' ? { kind: 'ok', object: seen.object } : await api.patch(ref, patch, options);
    },
  }));
}
