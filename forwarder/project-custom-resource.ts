/**
 * The parts of a custom resource that matter: of a kind that a FinalizerRule names, and of one that another system
 * works on for Curfew. Pure.
 */
import { ANNOTATIONS } from '../shared/contract/names.ts';
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { listAt, textAt } from './fields.ts';
import { conditions, finalizers, hints, sortedList, type ObjectParts, type Project } from './projection.ts';

/** A kind that a FinalizerRule names. */
export const projectCustomResource: Project = object => ({
  parts: {
    deletionTimestamp: object.metadata.deletionTimestamp,
    finalizers: finalizers(object),
    generation: object.metadata.generation,
  },
  hints: {},
});

/** A resource that somebody else works on. Those of its conditions that say how it ends are a part of their own (`publish-interval.ts`). */
function partsOfWork(
  object: KubernetesObject,
  endConditions: readonly string[],
  more: readonly string[] = [],
): ObjectParts {
  const isEnd = (type: string): boolean => endConditions.includes(type);
  return {
    ...projectCustomResource(object).parts,
    conditions: conditions(object, type => !isEnd(type)),
    ends: conditions(object, isEnd, more),
  };
}

/** The kind that `[customDrain]` names: its conditions say when the drain is over, unless they are of an older generation. */
export const projectDrainResource =
  (endConditions: readonly string[]): Project =>
  object => ({
    parts: partsOfWork(object, endConditions, ['observedGeneration']),
    hints: hints({ nodeName: object.metadata.labels?.[NVSENTINEL_NODE_NAME_LABEL] }),
  });

/** The custom resource of a repair, under the contract of node-healthcheck-operator. */
export const projectRemediation: Project = object => ({
  parts: partsOfWork(object, ['Succeeded']),
  hints: hints({ nodeName: object.metadata.annotations?.[ANNOTATIONS.repairedNode] }),
});

/** The custom resource of a hook: a condition that is True says that it is done, and any change is a heartbeat. */
export const projectHookResource: Project = object => ({
  parts: {
    ...projectCustomResource(object).parts,
    ends: sortedList(
      listAt(object, 'status', 'conditions').flatMap(condition =>
        textAt(condition, 'status') === 'True' ? (textAt(condition, 'type') ?? []) : [],
      ),
    ),
    version: object.metadata.resourceVersion,
  },
  hints: hints({ hookKey: object.metadata.annotations?.[ANNOTATIONS.terminationHook] }),
});

/** Selects the custom resources of hooks. Any other object of the kind is not Curfew's. */
export const hookResourceInterest = ({ metadata }: KubernetesObject): 'itself' | undefined =>
  metadata.annotations?.[ANNOTATIONS.terminationHook] === undefined ? undefined : 'itself';

/** On every custom resource of a drain. */
const NVSENTINEL_NODE_NAME_LABEL = 'nvsentinel.nvidia.com/node-name';
