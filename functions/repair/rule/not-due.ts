/** Judges a node that is healthy or cannot be judged: what is taken back, and how long its record is kept. Pure. */
import { isRecordNeeded, readableSettings } from './incident.ts';
import { BLOCKED_CHECK, type NodeDecision } from './verdict.ts';
import type { Judgement } from './finding.ts';
import type { NodeFacts } from './pool-facts.ts';
import { AWS_REPAIR_STATEMENTS, matchStatements } from '../../../shared/domain/repair-policy.ts';
import { addDuration, minutes } from '../../../shared/domain/time.ts';

/** A node that cannot be judged is looked at this often; a fix usually comes as an event. */
const FAULT_CHECK = minutes(60);

/** Judges a healthy node, or one that cannot be judged. */
export function judgeNotDue(
  { node, record, context: { now, rules }, isUnhealthy, wasUnhealthy }: NodeFacts,
  decision: Extract<NodeDecision, { kind: 'ignore' | 'refuse' }>,
): Pick<Judgement, 'record' | 'verdict' | 'time' | 'isUseless'> {
  const verdict = { ...decision, node };
  if (decision.kind === 'refuse' || decision.reason === 'NoTransitionTime')
    return { record, verdict, time: addDuration(now, FAULT_CHECK), isUseless: false };
  const isUseless = record.leftovers !== undefined;
  const isUnhealthyByDefault = isUnhealthy || matchStatements(node, AWS_REPAIR_STATEMENTS).length > 0;
  const check = decision.reason === 'InstanceStopped' ? addDuration(now, BLOCKED_CHECK) : undefined;
  if (decision.reason !== 'Healthy' && isUnhealthyByDefault) return { record, verdict, time: check, isUseless };
  const window = readableSettings(rules)?.flapping?.window;
  const last = record.episodes.at(-1)?.endTime;
  const time = window !== undefined && last !== undefined ? addDuration(last, window) : undefined;
  return {
    record: isRecordNeeded(record, { kind: 'healthy', now }) ? record : undefined,
    verdict: wasUnhealthy ? verdict : undefined,
    time,
    isUseless,
  };
}
