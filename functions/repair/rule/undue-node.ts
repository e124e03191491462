/**
 * A node that nothing is due at: it is healthy, or it cannot be judged. What is taken back there, what is remembered of
 * it, and for how long. Pure.
 */
import { readableSettings } from './incident.ts';
import type { NodeRecord } from '../record.ts';
import { BLOCKED_CHECK, type Finding, IDLE, type NodeDecision, type NodeFacts } from './verdict.ts';
import { AWS_REPAIR_STATEMENTS, matchStatements } from '../../../shared/domain/repair-policy.ts';
import { addDuration, type EpochMs, hours, isDue, minutes } from '../../../shared/domain/time.ts';

/** A node that cannot be judged is looked at this often; a fix usually comes as an event. */
const FAULT_CHECK = minutes(60);
/** Acts are remembered for so long. */
const KEPT_FOR = hours(24);

/** A healthy node, or one that cannot be judged. */
export function judgeUndue(
  { node, record, context: { now, rules }, isUnhealthy, wasUnhealthy }: NodeFacts,
  decision: Extract<NodeDecision, { kind: 'ignore' | 'refuse' }>,
): Finding {
  const verdict = { ...decision, node };
  const faulty = { ...IDLE, record, verdict, time: addDuration(now, FAULT_CHECK) };
  if (decision.kind === 'refuse' || decision.reason === 'NoTransitionTime') return faulty;
  const looked = { ...IDLE, takesBack: record.ours !== undefined };
  const isUnhealthyByDefault = isUnhealthy || matchStatements(node, AWS_REPAIR_STATEMENTS).length > 0;
  const check = decision.reason === 'InstanceStopped' ? addDuration(now, BLOCKED_CHECK) : undefined;
  if (decision.reason !== 'Healthy' && isUnhealthyByDefault) return { ...looked, record, verdict, time: check };
  const window = readableSettings(rules)?.flapping?.window;
  const last = record.episodes.at(-1)?.endTime;
  const time = window !== undefined && last !== undefined ? addDuration(last, window) : undefined;
  return { ...looked, record: isKept(record, now) ? record : undefined, ...(wasUnhealthy && { verdict }), time };
}

/** Whether anything of a healthy node is worth remembering. */
const isKept = ({ incident, acts, ours, episodes, clocks, attempt, said }: NodeRecord, now: EpochMs): boolean =>
  [incident, ours, attempt].some(each => each !== undefined) ||
  episodes.length + Object.keys(clocks).length > 0 ||
  acts.some(({ time }) => !isDue(now, addDuration(time, KEPT_FOR))) ||
  (said !== undefined && !isDue(now, addDuration(said.time, hours(1))));
