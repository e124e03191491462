/** Judges a node at which nothing is under way. Pure. */
import { type Finding, findingOf } from './finding.ts';
import { isRecordNeeded, readableSettings } from './incident.ts';
import { judgeDue } from './next-action.ts';
import type { NodeFacts } from './node-facts.ts';
import { BLOCKED_CHECK, type OwnVerdict } from './verdict.ts';
import type { Attempt } from '../attempt-record.ts';
import { AWS_REPAIR_CONDITIONS, matchRepairConditions } from '../../../../shared/domain/repair-policy.ts';
import { addDuration, earliest, minutes } from '../../../../shared/domain/time.ts';

/** A node that cannot be judged is looked at this often; a fix usually comes as an event. */
const FAULT_CHECK = minutes(60);

/** A node on which another controller is at work is looked at this often: no event tells that the work has ended. */
const OTHERS_CHECK = minutes(1);

/**
 * Judges a node at which nothing is under way, by its own state and by the ladder.
 * @param unfinished an attempt that another run did not carry out
 */
export function judgeByLadder(facts: NodeFacts, unfinished?: Attempt): Finding {
  const { own, node, record } = facts;
  const { now } = facts.context;
  switch (own.kind) {
    case 'ignore':
    case 'refuse':
      return judgeNotDue(facts, own);
    case 'tolerate':
      return findingOf(record, { ...own, node }, own.dueCondition.dueTime);
    case 'unclaimed':
    case 'blockedByNode':
    case 'vetoed':
    case 'finishing': {
      const isUnderOtherWork = own.kind === 'blockedByNode' && own.reason === 'BeingDisrupted';
      const check = addDuration(now, isUnderOtherWork ? OTHERS_CHECK : BLOCKED_CHECK);
      const ends = own.kind === 'vetoed' ? own.veto.until : undefined;
      return findingOf(record, { ...own, node }, earliest(ends, check));
    }
    case 'due':
      return judgeDue(facts, own, unfinished);
  }
}

/** Judges a healthy node, or one that cannot be judged. */
function judgeNotDue(
  { node, record, context: { now, repair }, isUnhealthy, wasUnhealthy, isOn }: NodeFacts,
  own: Extract<OwnVerdict, { kind: 'ignore' | 'refuse' }>,
): Finding {
  const verdict = { ...own, node };
  const { leftovers } = record;
  if (own.kind === 'refuse' || own.reason === 'NoTransitionTime') {
    // While repair is off, what an attempt has set is taken back at once.
    const hasUselessLeftovers = !isOn && (leftovers?.annotation !== undefined || leftovers?.drain !== undefined);
    return findingOf(record, verdict, addDuration(now, FAULT_CHECK), { hasUselessLeftovers });
  }
  const more = { hasUselessLeftovers: leftovers !== undefined };
  const isUnhealthyByDefault = isUnhealthy || matchRepairConditions(node, AWS_REPAIR_CONDITIONS).length > 0;
  const check = own.reason === 'InstanceStopped' ? addDuration(now, BLOCKED_CHECK) : undefined;
  if (own.reason !== 'Healthy' && isUnhealthyByDefault) return findingOf(record, verdict, check, more);
  const window = readableSettings(repair)?.flapping?.window;
  const last = record.episodes.at(-1)?.endTime;
  const time = window !== undefined && last !== undefined ? addDuration(last, window) : undefined;
  const kept = isRecordNeeded(record, { kind: 'healthy', now }) ? record : undefined;
  return findingOf(kept, wasUnhealthy ? verdict : undefined, time, more);
}
