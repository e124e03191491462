/**
 * Finds what Curfew has left on a Node and nobody else takes off: its hold for protected pods, and what its drains and
 * reboots have written.
 */
import { ANNOTATIONS, KARPENTER, NVSENTINEL } from '../../shared/contract/names.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { isOwnCondition } from '../../shared/domain/node-drain-conditions.ts';
import { readConditions } from '../../shared/domain/node.ts';
import { DRAIN_STATES, isQuarantinedByCordon, stateWithoutDrain } from '../../shared/domain/quarantine.ts';

export interface Release {
  /** Keys of annotations and labels that come off. */
  readonly taken: readonly string[];
  readonly isUncordoned: boolean;
  /** A drain of ours has cordoned it and ended: the node was emptied for a reason, and only a person knows whether that is over. */
  readonly staysCordoned: boolean;
  /** The merge patch, for exactly the Node that was read. */
  readonly body: JsonObject;
}

/** Types of conditions that Curfew wrote on the Node: they would say for ever what was true once. */
export const ownConditionsOf = ({ status }: KubernetesObject): readonly string[] =>
  readConditions(status?.['conditions'])
    .filter(isOwnCondition)
    .map(({ type }) => type);

/** The strategic patch of the status that takes these conditions off; those of others stay. */
export const withoutConditions = ({ metadata: { uid } }: KubernetesObject, types: readonly string[]): JsonObject => ({
  metadata: { uid },
  status: { conditions: types.map(type => ({ type, $patch: 'delete' })) },
});

/** A request that stays would drain the node once more after the next installation. */
const DRAIN_MARKS = [
  ANNOTATIONS.drainRequested,
  ANNOTATIONS.drainAnswer,
  ANNOTATIONS.drainUnderWay,
  ANNOTATIONS.watchPods,
] as const;

/** Only what is ours (I7): a hold has our mark and the value that we write, a cordon the mark of its drain or repair. */
export function releaseOf({ metadata, spec }: KubernetesObject): Release {
  const { uid, resourceVersion, annotations = {}, labels = {} } = metadata;
  const isHeld = annotations[ANNOTATIONS.protectedUntil] !== undefined;
  const isOurs = isHeld && annotations[KARPENTER.doNotDisruptAnnotation] === 'true';
  const isDrained = annotations[ANNOTATIONS.drainUnderWay] !== undefined;
  const isCordoned = spec?.['unschedulable'] === true;
  const isByRepair = annotations[ANNOTATIONS.cordonedByRepair] !== undefined;
  const isByDrain = annotations[ANNOTATIONS.cordonedByDrain] !== undefined;
  const staysCordoned = isCordoned && isByDrain && !isDrained;
  const isUncordoned = isCordoned && (isByDrain || isByRepair) && !staysCordoned && !isQuarantinedByCordon(annotations);
  const marks = [
    ...(isOurs ? [KARPENTER.doNotDisruptAnnotation] : []),
    ...(isHeld ? [ANNOTATIONS.protectedUntil] : []),
    ...DRAIN_MARKS.filter(key => annotations[key] !== undefined),
    ...(isByDrain && !staysCordoned ? [ANNOTATIONS.cordonedByDrain] : []),
    ...(isByRepair ? [ANNOTATIONS.cordonedByRepair] : []),
  ];
  const showsDraining = isDrained && labels[NVSENTINEL.stateLabel] === DRAIN_STATES.draining;
  const body = {
    metadata: {
      uid,
      resourceVersion,
      ...(marks.length > 0 && { annotations: Object.fromEntries(marks.map(key => [key, null])) }),
      ...(showsDraining && { labels: { [NVSENTINEL.stateLabel]: stateWithoutDrain(annotations) ?? null } }),
    },
    ...(isUncordoned && { spec: { unschedulable: null } }),
  };
  return { taken: [...marks, ...(showsDraining ? [NVSENTINEL.stateLabel] : [])], isUncordoned, staysCordoned, body };
}
