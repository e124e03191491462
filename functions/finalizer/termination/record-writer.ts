/** The record of one termination within one turn: its present value, the intents of the turn, and how it is written together with its timer. */
import { deletionTimeOf, type KubernetesObject, subjectOf } from '../../../shared/domain/kubernetes-object.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import { addDuration, earliest, whileAhead, type EpochMs } from '../../../shared/domain/time.ts';
import type { SaveOutcome } from '../../../shared/lifecycle/timed-record.ts';
import { withAnswers } from './rule/hook-progress.ts';
import { launchTimeOf } from './rule/objects.ts';
import { settingsInForce } from './rule/settings-in-force.ts';
import { storedOrEmpty, type ObservedTermination } from './observe.ts';
import type { TerminationRecord } from './record.ts';
import type { StepContext, TerminationRunState } from './context.ts';

export interface RecordWriter {
  /** The record as it was last read or written. */
  value(): TerminationRecord;
  /** Writes while steps are at work: should this run die, the sweep brings the next one. */
  saveForSweep(value: TerminationRecord): Promise<SaveOutcome>;
  /** Writes the record with the timer of its wait. */
  save(value: TerminationRecord, wakeTime: EpochMs): Promise<SaveOutcome>;
}

/** Opens the record for one turn. A failed write leaves `value` as it was: the turn begins again. */
export function openRecordWriter(
  observed: ObservedTermination,
  { backoff, releasedNodes }: Pick<TerminationRunState, 'backoff' | 'releasedNodes'>,
): RecordWriter {
  let value = storedOrEmpty(observed);
  let { nextWakeTime, hasOwnMessage } = observed;
  /** Keeps a timer that is still ahead. To put it off would send another message in every run, and each message starts a run. */
  const save = async (next: TerminationRecord, wanted: EpochMs, isForSweep: boolean): Promise<SaveOutcome> => {
    const subject = subjectOf(observed.object);
    const wakeTime = earliest(wanted, whileAhead(observed.now, nextWakeTime));
    const { refusals: stored, ...fields } = next;
    const refusals = backoff.refusalsAfter(stored);
    const nodes = withReleased(fields.nodes, releasedNodes);
    const tried = { ...fields, nodes, ...(refusals !== undefined && { refusals }) };
    // A timer that is left to the sweep gets no SQS message: each look would start another run.
    const timer = { wakeTime, hasOwnMessage: !isForSweep || (wakeTime === nextWakeTime && hasOwnMessage) };
    const saved = await observed.timedRecord.save({ subject, value: tried, ...timer });
    if (saved.written) {
      value = tried;
      ({ wakeTime: nextWakeTime, hasOwnMessage } = timer);
    }
    return saved;
  };
  return {
    value: () => value,
    saveForSweep: next => save(next, addDuration(observed.now, RUN_ENDS_WITHIN), true),
    save: (next, wakeTime) => save(next, wakeTime, false),
  };
}

/** The context of one turn, with the record as its writer has it. */
export const openStepContext = (
  context: Pick<StepContext, 'deps' | 'reporter' | 'run'>,
  turn: Pick<StepContext, 'observed' | 'deadline' | 'isForced' | 'finalizerNames'>,
  writer: RecordWriter,
): StepContext => ({
  deps: context.deps,
  reporter: context.reporter,
  run: context.run,
  ...turn,
  hookOwner: { kind: 'ours' },
  now: turn.observed.now,
  settings: settingsInForce(turn.observed.termination, turn.observed.stored),
  record: () => writer.value(),
  saveRecord: async change => (await writer.saveForSweep({ ...writer.value(), ...change })).written,
});

/** Marks the Nodes that this run has released: when they go, nothing is reported. */
const withReleased = (nodes: TerminationRecord['nodes'], released: ReadonlySet<string>): TerminationRecord['nodes'] =>
  Object.fromEntries(
    Object.entries(nodes).map(([uid, node]) => [uid, released.has(uid) ? { ...node, isAccountedFor: true } : node]),
  );

/** The record with the intents of this turn. */
export function withTurnIntent(before: TerminationRecord, context: StepContext): TerminationRecord {
  const { observed, run, deadline, finalizerNames, settings } = context;
  const launchTime = launchTimeOf(observed);
  const nodes = Object.fromEntries(observed.nodes.map(({ metadata: { uid, name } }) => [uid, { name }]));
  const deletionTimes = deletionTimesOf([observed.object, ...observed.nodes]);
  return {
    ...before,
    waits: [],
    finalizerNames: [...finalizerNames],
    nodes: { ...before.nodes, ...nodes },
    deletionTimes: { ...before.deletionTimes, ...deletionTimes },
    hooks: withAnswers(before.hooks, run.answers, observed.now),
    ...(deadline !== undefined && { deadline }),
    ...(observed.providerID !== undefined && { providerID: observed.providerID }),
    ...(launchTime !== undefined && { launchTime }),
    ...(settings !== undefined && { settings }),
  };
}

const deletionTimesOf = (objects: readonly KubernetesObject[]): Readonly<Record<string, EpochMs>> =>
  Object.fromEntries(
    objects.flatMap(object => {
      const time = deletionTimeOf(object);
      return time === undefined ? [] : [[object.metadata.uid, time] as const];
    }),
  );
