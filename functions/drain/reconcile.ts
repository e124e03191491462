/** Drains: look at a node with its requests, decide, act. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { aboutSubject, type Subject } from '../../shared/contract/subject.ts';
import { createBackoff, noteRefusedRead, reportWarning } from '../../shared/lifecycle/refusals.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { settle, type Concern, type Observed } from '../../shared/lifecycle/settle.ts';
import { openRecords, type UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { orUnavailable } from '../../shared/ports/read-answer.ts';
import { apply } from './apply.ts';
import { decide } from './decide.ts';
import type { DrainDecision } from './rule/decision.ts';
import { closeGone } from './drain-end.ts';
import type { IncomingMessage } from './rule/observation.ts';
import { observe, type ObservedNode, type TargetNode } from './observe.ts';
import { DRAIN_CODEC, recordIdOf } from './record.ts';
import type { DrainDeps, DrainRunState, ReplaceableRules } from './context.ts';

/** The rules that a drain goes by. */
export const REPLACEABLE_RULES: ReplaceableRules = { decide };

/** The ports, helpers and rules of one look at a node. */
export interface ReconcileContext extends ReplaceableRules {
  readonly deps: DrainDeps;
  readonly reporter: Reporter;
}

/** Looks at a Node and acts until nothing is left to do. @returns whether the message was taken care of, or the Node is there */
export async function reconcileNode(
  context: ReconcileContext,
  first: TargetNode,
  incoming?: IncomingMessage,
  wakeUp?: UsedWakeUp,
): Promise<boolean> {
  const { deps, reporter } = context;
  const records = openRecords(deps, DRAIN_CODEC, wakeUp);
  const reader = { timedRecordOf: (uid: string) => records(recordIdOf(uid)), backoff: createBackoff(deps.clock) };
  const run: DrainRunState = { isMessageDone: incoming === undefined, endedDrainId: undefined };
  let isHere = false;
  let target = first;
  const reportOf = (subject: Subject) => reportWarning(reporter, aboutSubject(subject), EVENT_REASONS.readRefused);
  const concern: Concern<ObservedNode, DrainDecision> = {
    what: `node ${first.name}`,
    async observe(): Promise<Observed<ObservedNode>> {
      const found = await orUnavailable(observe(deps, reader, target, run.isMessageDone ? undefined : incoming));
      if (found.kind === 'unavailable') {
        const timedRecord = target.uid === undefined ? undefined : reader.timedRecordOf(target.uid);
        const { backoff } = reader;
        await noteRefusedRead(found.error, { backoff, timedRecord, reportOf, isRequest: !run.isMessageDone });
        return { kind: 'over' };
      }
      isHere = found.kind === 'here';
      // I10: from now on this node is meant, not its name.
      if (found.kind === 'here') target = { name: target.name, uid: found.observation.object.metadata.uid };
      if (found.kind === 'here') return { kind: 'here', observation: found.observation };
      if (found.kind === 'gone') await closeGone(context, target, found);
      return { kind: 'over' };
    },
    decide: observed => context.decide(observed),
    apply: (decision, observed) => apply({ deps, reporter, run }, decision, observed),
  };
  await settle(concern);
  return run.isMessageDone || isHere;
}
