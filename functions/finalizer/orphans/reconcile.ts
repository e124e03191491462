/** One instance that may have been left behind: look, decide, say it or close its entry. */
import type { FinalizerContext, TerminationDeps } from '../cluster/context.ts';
import { isGone, isUnknownYet } from '../cluster/instances.ts';
import { TERMINATION_METRICS } from '../../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { addDuration, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { orRefused } from '../../../shared/lifecycle/refusals.ts';
import type { About, Reporter } from '../../../shared/lifecycle/reporter.ts';
import { DONE, settle, type Observed, type Turn } from '../../../shared/lifecycle/settle.ts';
import { openRecord, type TimedRecord, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import type { InstanceState } from '../../../shared/ports/instances.ts';
import { listHeldInstances } from './observe.ts';
import { decideOrphan, ORPHAN_CHECK, type HeldBy, type OrphanDecision } from './decide.ts';
import { instanceSubject, ORPHAN_CODEC, type OrphanEntry } from './record.ts';

/** The object that went in the middle of its termination and left the instance. */
export type LeftBy = NonNullable<OrphanEntry['object']>;

/** undefined: there is no such instance. */
type State = InstanceState | 'unknown' | undefined;

interface ObservedInstance {
  readonly now: EpochMs;
  readonly providerID: string;
  readonly state: State;
  readonly heldBy: HeldBy;
  readonly object: LeftBy | undefined;
  readonly record: TimedRecord<OrphanEntry>;
  readonly entry: OrphanEntry | undefined;
}

/**
 * Answers whether the instance is in the ledger afterwards.
 * @param left by whom, and since when, where an object's termination has found it
 */
export async function reconcileInstance(
  parts: FinalizerContext,
  providerID: string,
  {
    wakeUp,
    left,
  }: {
    readonly wakeUp?: UsedWakeUp;
    readonly left?: { readonly object: LeftBy; readonly since: EpochMs; readonly launchTime?: EpochMs | undefined };
  },
): Promise<boolean> {
  const { deps } = parts;
  const record = openRecord(deps, ORPHAN_CODEC, `instance/${providerID}`, wakeUp);
  if (await record.isServed()) return true;
  let isInLedger = true;
  await settle<ObservedInstance, OrphanDecision>({
    what: `instance ${providerID}`,
    async observe(): Promise<Observed<ObservedInstance>> {
      const loaded = await record.load();
      if (loaded.kind === 'newer') return { kind: 'over' };
      const entry = loaded.kind === 'known' ? loaded.value : undefined;
      const state = await stateOf(deps, providerID, left?.launchTime);
      const heldBy = ends(state) ? 'nothing' : await holderOf(deps, providerID);
      const now = deps.clock.now();
      const object = entry === undefined ? left?.object : entry.object;
      return { kind: 'here', observation: { now, providerID, state, heldBy, object, record, entry } };
    },
    decide: ({ now, state, heldBy, object, entry }) =>
      decideOrphan({ now, ends: ends(state), heldBy, leftByObject: object !== undefined, entry }),
    async apply(decision, observed) {
      isInLedger = decision.kind === 'say' || decision.kind === 'wait';
      return apply(parts, decision, observed, left?.since);
    },
  });
  return isInLedger;
}

/** What EC2 refuses to look at, such as a providerID that is none of its own, may run on (I6); so may one that is too young to be known. */
async function stateOf(
  { instances, clock }: TerminationDeps,
  providerID: string,
  launchTime: EpochMs | undefined,
): Promise<State> {
  const found = await orRefused(instances.describe(providerID));
  if (found === undefined) return isUnknownYet(launchTime, clock.now()) ? 'unknown' : undefined;
  return 'cause' in found ? 'unknown' : found.state;
}

const ends = (state: State): boolean => state !== 'unknown' && (isGone(state) || state === 'shutting-down');

async function holderOf(deps: TerminationDeps, providerID: string): Promise<HeldBy> {
  const held = await listHeldInstances(deps);
  if (held === undefined) return 'unknown';
  if (held.byClaims.has(providerID)) return 'NodeClaim';
  return held.byNodes.has(providerID) ? 'Node' : 'nothing';
}

async function apply(
  { reporter }: FinalizerContext,
  decision: OrphanDecision,
  observed: ObservedInstance,
  since?: EpochMs,
): Promise<Turn> {
  const { now, record, entry, object, providerID } = observed;
  const subject = instanceSubject(providerID);
  switch (decision.kind) {
    case 'ignore':
      return DONE;
    case 'wait':
      return entry === undefined ? DONE : record.save({ subject, value: entry, wakeTime: decision.until });
    case 'say': {
      const value = {
        since: entry === undefined && since !== undefined ? since : decision.since,
        saidTime: now,
        ...(object && { object }),
      };
      // Said first: what the entry says was said is not said again for a day (I9).
      await reportOrphan(reporter, observed, value.since);
      return record.save({ subject, value, wakeTime: addDuration(now, ORPHAN_CHECK) });
    }
    case 'close': {
      const turn = await record.closeGone();
      if (turn.kind === 'done') await reportClosed(reporter, observed, decision.because);
      return turn;
    }
  }
}

function aboutOf({ object, providerID }: ObservedInstance): About {
  if (object === undefined) {
    const { apiVersion, kind, name } = instanceSubject(providerID);
    return { apiVersion, kind, metadata: { name } };
  }
  const { apiVersion, kind, name, uid } = object;
  return { apiVersion, kind, metadata: { name, ...(uid !== undefined && { uid }) } };
}

async function reportOrphan(reporter: Reporter, observed: ObservedInstance, since: EpochMs): Promise<void> {
  const { object, providerID, state = '' } = observed;
  await reporter.report({
    about: aboutOf(observed),
    decision: 'orphan',
    reason: EVENT_REASONS.possibleOrphan,
    message:
      object === undefined
        ? `instance ${providerID} is ${state}, and neither a NodeClaim nor a Node has it`
        : `${object.kind} ${object.name} went before its termination was over, and instance ${providerID} is ${state}: the finalizer was taken off by somebody else`,
    details: { providerID, state, since: toTimestamp(since) },
    metric: { name: TERMINATION_METRICS.possibleOrphan },
    // No object of the cluster could carry an Event about an instance alone.
    ...(object !== undefined && { event: { type: 'Warning' } }),
  });
}

async function reportClosed(
  reporter: Reporter,
  observed: ObservedInstance,
  because: Extract<OrphanDecision, { kind: 'close' }>['because'],
): Promise<void> {
  const { providerID, state, heldBy } = observed;
  const ended = state === undefined ? 'is gone' : `is ${state}`;
  await reporter.report({
    about: aboutOf(observed),
    decision: 'close',
    reason: because,
    message: `instance ${providerID} ${because === 'InstanceEnded' ? ended : `has a ${heldBy}`}: it is no possible orphan any more`,
    details: { providerID },
  });
}
