/** What one run of a drain has, how each of its turns writes the record, and how a change that is refused ends a turn. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { subjectOf, type KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { RUN_ENDS_WITHIN } from '../../shared/domain/run-end.ts';
import { addDuration, earliest, minutes, type EpochMs } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import { causeOf, isRefusal, reportWarning, type Refused } from '../../shared/lifecycle/refusals.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { again, type Turn } from '../../shared/lifecycle/settle.ts';
import type { RecordToSave } from '../../shared/lifecycle/timed-record.ts';
import { forgetPods } from '../../shared/pods/drain-pods.ts';
import { showDrain, type NodeChange } from './node.ts';
import type { ShownDrain } from './rule/observation.ts';
import type { DrainDeps, ObservedDrain } from './observe.ts';
import type { DrainRecord } from './record.ts';

export interface DrainContext {
  readonly deps: DrainDeps;
  readonly reporter: Reporter;
  readonly run: DrainRun;
}

/** What one run did itself; the same in all of its turns. */
export interface DrainRun {
  /** The message in hand is in the record, was answered, or asks for nothing. */
  isMessageDone: boolean;
  /** Id of the drain that it ended: it is the one to close it. */
  endedDrainId: string | undefined;
}

/** Whatever is waited for, a drain is looked at this often. */
const SAFETY_NET = minutes(5);
/** No event reports a change of a pod's labels or of the devices it uses. */
const UNWATCHED_CHECK = minutes(1);

/** Writes record and timer together. @param how as in `RecordToSave` */
export function save(
  observed: ObservedDrain,
  record: DrainRecord,
  wakeTime: EpochMs,
  how: Pick<RecordToSave<DrainRecord>, 'punctual' | 'goesBack'> = {},
) {
  const { refusals: stored, ...rest } = record;
  forgetPods(observed.tries, stored, record.active === undefined ? [] : observed.pods);
  const refusals = observed.tries.after(stored);
  return observed.store.save({
    subject: subjectOf(observed.object),
    value: { ...rest, ...(refusals !== undefined && { refusals }) },
    wakeTime,
    ...how,
  });
}

/** This run goes on. Should it die, the sweep finds the timer. */
export const saveForSweep = (observed: ObservedDrain, value: DrainRecord) =>
  save(observed, value, addDuration(observed.now, RUN_ENDS_WITHIN), { punctual: false });

/** What is observed once a turn has written this by `saveForSweep`. */
export const withSaved = (observed: ObservedDrain, record: DrainRecord): ObservedDrain => ({
  ...observed,
  record,
  armed: addDuration(observed.now, RUN_ENDS_WITHIN),
});

/** A timer that is only a little early is kept: it costs less than to look again because it was put off (T4). */
export function saveUntil(observed: ObservedDrain, value: DrainRecord, wakeTime: EpochMs) {
  const { armed, now } = observed;
  const keeps =
    armed !== undefined && armed > now && armed < wakeTime && wakeTime <= addDuration(armed, RUN_ENDS_WITHIN);
  return keeps ? save(observed, value, armed, { punctual: false }) : save(observed, value, wakeTime);
}

/** Until when a drain waits for news, at most. */
export function withSafetyNet({ now, rules, record }: ObservedDrain, time: EpochMs | undefined): EpochMs {
  const isUnwatched = (rules?.settings.podDrainPolicies.length ?? 0) > 0 || record.active?.scope.kind === 'entities';
  const net = addDuration(now, isUnwatched ? UNWATCHED_CHECK : SAFETY_NET);
  return earliest(time, net);
}

/** Makes a change of Node or custom resource, unless it was refused and waits. @param key which change of the drain it is */
export function tryChange<Outcome>(
  { reporter }: DrainContext,
  { object, record, mode, limits, rules, tries }: ObservedDrain,
  key: 'show' | 'prepare' | 'answer' | 'finish' | 'deleteResource',
  call: () => Promise<Outcome>,
): Promise<Outcome | Refused> {
  const restsOn = [object, record.active?.id, mode, limits, rules?.settings];
  // What only informs is not worth a word.
  const report = key === 'show' ? undefined : reportWarning(reporter, object, EVENT_REASONS.nodeChangeRefused);
  return tries.make({ key, stored: record.refusals, restsOn, report }, call);
}

/** The drain goes on where a change is refused, unless the refusal is about to pass: a later turn makes up for it. */
export const okUnlessTransient = <Outcome>(changed: Outcome | Refused): Outcome | { readonly kind: 'ok' } | Refused =>
  isRefusal(changed) && causeOf(changed.error) !== 'passing' ? { kind: 'ok' } : changed;

/** Shows the drain on the Node, where that is let; the Node, or why the turn ends. */
export async function showOnNode(
  context: DrainContext,
  observed: ObservedDrain,
  shown: ShownDrain,
  message: string,
): Promise<KubernetesObject | Refused | undefined> {
  const node = await tryChange(context, observed, 'show', () =>
    showDrain(context.deps, observed.object, shown, { message, now: observed.now }),
  );
  return isRefusal(node) && node.goesBack === undefined ? observed.object : node;
}

/** Why a change was not made. */
export type UnmadeChange = Exclude<NodeChange, { kind: 'ok' }> | Refused | undefined;

/**
 * The turn of a run that did not change the Node: it lost a race, or what it wants is refused.
 *
 * @param isForMessage the change is what the message in hand asks for, which stands nowhere else
 */
export async function endUnchangedTurn(
  observed: ObservedDrain,
  changed: UnmadeChange,
  isForMessage = false,
): Promise<Turn> {
  if (!isRefusal(changed)) return again(`the Node ${changed?.kind === 'gone' ? 'is gone' : 'changed'}`);
  const loaded = await observed.store.load();
  if (isForMessage || loaded.kind !== 'known') throw changed.goesBack ?? new RetryableError(changed.message);
  const { until, goesBack } = changed;
  return save(observed, loaded.value, withSafetyNet(observed, until), { goesBack });
}

/** The Node as `DrainCompleted` names it: the one that was looked at, by its UID (I10). */
export const nodeOf = ({ object: { metadata } }: ObservedDrain) => ({ name: metadata.name, uid: metadata.uid });

/** One audit line, metric and Event about the Node. */
export function report(
  { reporter }: DrainContext,
  { object }: ObservedDrain,
  what: Omit<Parameters<Reporter['report']>[0], 'about'>,
): Promise<void> {
  return reporter.report({ ...what, about: object });
}
