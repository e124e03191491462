/** What becomes of a node of which nothing is under way: what its own state says, and whose turn it is. Pure. */
import { AWS_REPAIR_STATEMENTS, matchStatements } from '../../../shared/domain/repair-policy.ts';
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import { addDuration, earliest, isDue, minutes, toTimestamp } from '../../../shared/domain/time.ts';
import { keyOf, takenBefore, turnOf } from './ladder.ts';
import { readableSettings } from './node-verdict.ts';
import { QUIET, type LookResult, type JudgedNode } from './judged-node.ts';
import type { Attempt, NodeRecord } from './record.ts';
import { FAULT_CHECK, FOLLOW_CHECK, BLOCKED_CHECK, KEPT_FOR, OTHERS_CHECK } from './times.ts';
import type { BlockedReason, DueTurn, NodeLook, Verdict } from './verdict.ts';

/** Nothing of it is under way: what the node's own state says, and whose turn it is. */
export function lookAtTurn(seen: JudgedNode, stale: Attempt | undefined): LookResult {
  const { decision, node, record, context, rungs, ills } = seen;
  const { now } = context;
  switch (decision.kind) {
    case 'ignore':
      if (decision.reason !== 'NoNodeClaim') return lookAtNothing(seen);
      return waiting(
        seen,
        { kind: 'unclaimed', node, incident: decision.incident, message: decision.message },
        BLOCKED_CHECK,
      );
    case 'refuse':
      return lookAtNothing(seen);
    case 'tolerate': {
      const { incident, message } = decision;
      const doubts = ills.flatMap(({ doubt, condition: { type, lastTransitionTime } }) =>
        doubt === undefined
          ? []
          : [
              `the clock that wrote ${type} is ${doubt}: its time is ${lastTransitionTime === undefined ? '(none)' : toTimestamp(lastTransitionTime)}`,
            ],
      );
      return {
        ...QUIET,
        record,
        verdict: { kind: 'tolerate', node, incident, doubts, message },
        time: incident.dueTime,
      };
    }
    case 'blocked': {
      const { reason, incident, message } = decision;
      return waiting(
        seen,
        { kind: 'blocked', node, reason, incident, message },
        reason === 'BeingDisrupted' ? OTHERS_CHECK : BLOCKED_CHECK,
      );
    }
    case 'vetoed': {
      const { until } = decision.veto;
      const check = addDuration(now, BLOCKED_CHECK);
      const look = waiting(seen, { kind: 'vetoed', node, decision, message: decision.message }, BLOCKED_CHECK);
      return { ...look, time: until === undefined ? check : earliest(until, check) };
    }
    case 'finishing':
      return waiting(seen, { kind: 'finishing', node, message: decision.message }, FOLLOW_CHECK);
    case 'due': {
      const { incident } = decision;
      const taken = record.illness?.taken ?? takenBefore(record, incident.conditionType, rungs, now);
      const basis = context.basisOf(decision.claim);
      const turn = turnOf(
        {
          rungs,
          taken,
          acts: record.acts,
          refusals: record.refusals,
          basis,
          passed: record.illness?.passed,
          launchesFrom: context.launchesFrom,
          hasClaim: decision.claim !== undefined,
        },
        now,
      );
      if (turn.kind === 'next') {
        const { rung } = turn;
        const rest = rungs.slice(rungs.indexOf(rung) + 1).filter(each => !taken.includes(keyOf(each)));
        const same = stale?.key === keyOf(rung) ? stale : undefined;
        const begun: NodeRecord = {
          ...record,
          illness: { ...record.illness, type: incident.conditionType, taken: [...taken] },
        };
        return { ...QUIET, record: begun, verdict: { kind: 'due', decision, rung, rungs, rest, stale: same } };
      }
      if (turn.kind === 'refused') {
        const message = `${decision.message}; refused: ${turn.message}; it is tried again at ${toTimestamp(turn.until)}`;
        return { ...QUIET, record, verdict: { kind: 'retry', node, message }, time: turn.until };
      }
      if (turn.kind === 'unavailable') {
        const message = `${decision.message}; no replacement can be launched: it is tried again at ${toTimestamp(turn.until)}`;
        const verdict: Verdict = { kind: 'blocked', node, reason: 'ReplacementUnavailable', incident, message };
        return { ...QUIET, record, verdict, time: turn.until };
      }
      const returns = turn.until === undefined ? '' : `; an allowance returns at ${toTimestamp(turn.until)}`;
      const list = rungs.map(({ type, timeout }) => `${type} ${formatDuration(timeout)}`).join(', ');
      const message = `every action of repair.actions (${list}) was taken or has no attempt left, no further action is set${returns}`;
      return {
        ...QUIET,
        record,
        verdict: { kind: 'exhausted', node, message },
        time: earliest(turn.until, addDuration(now, BLOCKED_CHECK)),
      };
    }
  }
}

function waiting({ record, context: { now } }: JudgedNode, verdict: Verdict, check: typeof BLOCKED_CHECK): LookResult {
  return { ...QUIET, record, verdict, time: addDuration(now, check) };
}

/** Well, or not to be judged. */
function lookAtNothing(seen: JudgedNode): LookResult {
  const { decision, node, record, held, context } = seen;
  const { now, rules } = context;
  if (decision.kind === 'refuse') {
    return {
      ...QUIET,
      record,
      verdict: { kind: 'refuse', node, message: decision.message },
      time: addDuration(now, FAULT_CHECK),
    };
  }
  if (decision.kind !== 'ignore' || decision.reason === 'NoNodeClaim') return { ...QUIET, record };
  const { reason, message } = decision;
  const verdict: Verdict = { kind: 'ignore', node, reason, message };
  if (reason === 'NoTransitionTime') return { ...QUIET, record, verdict, time: addDuration(now, FAULT_CHECK) };
  if (reason !== 'Healthy') {
    const isIllAnyhow = seen.isIll || matchStatements(node, AWS_REPAIR_STATEMENTS).length > 0;
    if (isIllAnyhow) return { ...QUIET, record, verdict, takesBack: record.ours !== undefined };
  }
  const wasOpen = held !== undefined && Object.keys(held.clocks).length > 0;
  const window = readableSettings(rules)?.flapping?.window;
  const last = record.episodes.at(-1)?.endTime;
  const time = window !== undefined && last !== undefined ? addDuration(last, window) : undefined;
  return { ...QUIET, record: kept(seen), ...(wasOpen && { verdict }), time, takesBack: record.ours !== undefined };
}

/** What is worth remembering of a node that is not ill; undefined: nothing. */
function kept({ record, context: { now } }: JudgedNode): NodeRecord | undefined {
  const { illness, acts, ours, episodes, clocks, attempt, said } = record;
  const isActed = acts.some(({ time }) => !isDue(now, addDuration(time, KEPT_FOR)));
  const isAny =
    illness !== undefined ||
    isActed ||
    (said !== undefined && !isDue(now, addDuration(said.time, minutes(60)))) ||
    ours !== undefined ||
    attempt !== undefined ||
    episodes.length > 0 ||
    Object.keys(clocks).length > 0;
  return isAny ? record : undefined;
}

/** Nothing may be repaired: what is under way is followed, and what was begun is known when it may be again. */
export function lookWhileOff(seen: JudgedNode): LookResult {
  const { record } = seen;
  const look = lookAtNothing(seen);
  const isLeft = record.ours?.annotation !== undefined || record.ours?.drain !== undefined;
  return { ...look, takesBack: look.takesBack || isLeft };
}

/** The action that the node is due for, before the pool has decided. */
export const dueOf = ({ verdict }: Pick<NodeLook, 'verdict'>): DueTurn | undefined =>
  verdict?.kind === 'due' ? verdict : undefined;

/** What is decided of the node. */
export const verdictOf = ({ verdict }: Pick<NodeLook, 'verdict'>): Verdict | undefined =>
  verdict?.kind === 'due' ? undefined : verdict;

const NO_TRANSITION_TIME = 'ignore';
const UNCLAIMED: Verdict['kind'] = 'unclaimed';
const blockedBy = (reason: BlockedReason): string => `blocked ${reason}`;

/** What was said of a node, in short, as its record keeps it: each code stays as it is. undefined: it is said each time that it is so. */
export function codeOf(verdict: Verdict): string | undefined {
  switch (verdict.kind) {
    case 'tolerate':
      return `tolerate ${verdict.incident.conditionType}=${verdict.incident.conditionStatus} ${verdict.incident.dueTime}`;
    case 'blocked':
      return blockedBy(verdict.reason);
    case 'ignore':
      if (verdict.reason === 'Healthy') return undefined;
      return verdict.reason === 'NoTransitionTime' ? NO_TRANSITION_TIME : `ignore ${verdict.reason}`;
    case 'wouldRepair':
      return `wouldRepair ${verdict.attempt.key}`;
    case 'exhausted':
      return `exhausted ${verdict.message}`;
    case 'underWay':
    case 'finishing':
    case 'retry':
    case 'settle':
    case 'stuck':
    case 'unclaimed':
    case 'vetoed':
    case 'refuse':
      return verdict.kind;
    case 'repair':
    case 'recovered':
    case 'gone':
      return undefined;
  }
}

type Remembered = Pick<NodeRecord, 'said'> | undefined;

/** Its condition was ill without a time of its own. */
export const wasWithoutTime = (record: Remembered): boolean => record?.said?.code === NO_TRANSITION_TIME;

/** No NodeClaim, or more than one, stood for it. */
export const wasWithoutOwner = (record: Remembered): boolean =>
  record?.said?.code === UNCLAIMED || record?.said?.code === blockedBy('AmbiguousNodeClaim');
