/** Input of the clean-up of one object: the object, its entry in the ledger, and the FinalizerRule that is in force for its kind. */
import type { FinalizerDeps } from '../common/context.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import {
  deletionTimeOf,
  type KubernetesObject,
  type ObjectRef,
  type ResourceType,
} from '../../../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { Observed } from '../../../shared/lifecycle/settle.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import type { ObjectObservation, ObservedState } from './decide.ts';
import { objectOrNotServed } from '../../../shared/custom-resource/not-served.ts';
import type { LedgerEntry } from './record.ts';
import type { FinalizerRuleInForce } from '../finalizer-rules/rule/acceptance.ts';
import { carriesFinalizer } from '../finalizer-rules/finalizer-rule-set.ts';

/** The object, with the fields that the rule reads. */
export interface FoundObject extends ObservedState {
  readonly live: KubernetesObject;
}

export interface ObservedObject {
  readonly observation: ObjectObservation<LedgerEntry, FoundObject>;
  readonly inForce: FinalizerRuleInForce;
  readonly ref: ObjectRef;
  readonly object: KubernetesObject | undefined;
  readonly subject: Subject;
  readonly timedRecord: TimedRecord<LedgerEntry>;
  readonly entry: LedgerEntry | undefined;
}

export interface TargetObject {
  /** The object with its UID. */
  readonly subject: Subject;
  readonly inForce: FinalizerRuleInForce;
  readonly type: ResourceType;
  readonly timedRecord: TimedRecord<LedgerEntry>;
  /** The FinalizerRule could not get a finalizer of its own. */
  readonly isOwnFinalizerRefused: boolean;
  /** Number of the call that this run noted down. */
  readonly ownAttempt: number | undefined;
}

/** Looks at the object once. `over`: the entry is a newer version's. */
export async function observe(
  { kubernetes, clock }: Pick<FinalizerDeps, 'kubernetes' | 'clock'>,
  sought: TargetObject,
): Promise<Observed<ObservedObject>> {
  const { subject, inForce, type, timedRecord, isOwnFinalizerRefused, ownAttempt } = sought;
  const loaded = await timedRecord.load();
  if (loaded.kind === 'newer') return { kind: 'over' };
  const storedEntry = loaded.kind === 'known' ? loaded.value : undefined;
  // The name that the ledger stores: a message may be wrong in it (I10).
  const ownSubject = loaded.kind === 'known' ? loaded.stored.subject : subject;
  const { name, namespace } = ownSubject;
  const { rule } = inForce;
  const ref = { type, name, ...(namespace !== undefined && { namespace }) };
  const answer = await kubernetes.get(ref);
  const isOther = answer.kind === 'there' && answer.object.kind !== rule.kind;
  const isMissing = answer.kind !== 'there' && storedEntry !== undefined;
  // The plural is what the FinalizerRule's status says, which others may have written: the kind decides.
  const served = isOther || isMissing ? await kubernetes.resolve(rule) : undefined;
  if (served !== undefined && served.resource !== type.resource)
    return observe({ kubernetes, clock }, { ...sought, type: served });
  const found = isOther ? 'notServed' : await objectOrNotServed({ kubernetes }, answer, rule);
  const object = found !== 'notServed' && found?.metadata.uid === subject.uid ? found : undefined;
  const objectState = object && {
    live: object,
    hasFinalizer: carriesFinalizer(object, inForce),
    deletionTime: deletionTimeKept(object, storedEntry),
  };
  const entry = storedEntry && isOfEarlierDeletion(storedEntry, objectState) ? undefined : storedEntry;
  const observation: ObservedObject['observation'] = {
    now: clock.now(),
    rule,
    isFinalizerRuleTerminating: inForce.object.metadata.deletionTimestamp !== undefined,
    object: found === 'notServed' ? found : objectState,
    entry,
    isOwnIntent: entry !== undefined && ownAttempt === entry.attempts,
    addsFinalizer: inForce.addsFinalizer && (inForce.hasOwnFinalizer || isOwnFinalizerRefused),
  };
  return { kind: 'here', observation: { observation, inForce, ref, object, subject: ownSubject, timedRecord, entry } };
}

/** The time of its deletion: of a pod whose grace period was cut since, that of the entry. */
function deletionTimeKept(object: KubernetesObject, entry: LedgerEntry | undefined): EpochMs | undefined {
  const time = deletionTimeOf(object);
  const stored = entry?.deletionTime;
  const isPod = object.kind === 'Pod' && object.apiVersion === 'v1';
  return isPod && time !== undefined && stored !== undefined && stored < time ? stored : time;
}

/** Whether the entry is of another deletion than that of the object: it lived again in between, or lives now. */
const isOfEarlierDeletion = ({ deletionTime }: LedgerEntry, objectState: ObservedState | undefined): boolean =>
  objectState !== undefined && deletionTime !== undefined && deletionTime !== objectState.deletionTime;
