/** How one node of the pool fares in a pass: a verdict of its own, or a candidate for repair. Pure. */
import { NODE_POOL_LABEL } from '../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { RepairSettings } from '../../../shared/domain/repair-policy.ts';
import { addDuration, minutes, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { decide, type NodeDecision, type RepairRules } from '../decide.ts';
import type { Episode } from '../incident.ts';
import { ownerOf, type Owner, type OwnerIndex } from '../owner.ts';
import { vetoCheckTime } from '../veto.ts';
import type { OpenAttempts } from './attempts.ts';
import type { Candidate } from './grant.ts';
import { BLOCKED_RETRY, type HoldReason } from './guards.ts';
import { rungsOf, standingOf } from './ladder.ts';
import type { RepairAttempt } from './pool.ts';

/** A repaired node that is still there is looked at this often, so that an attempt never goes out of sight. */
export const FINISHING_CHECK = minutes(5);

/** What the pass found out about one node. */
export type Verdict = { readonly node: NodeView; readonly message: string } & (
  | { readonly kind: 'repair'; readonly attempt: RepairAttempt }
  /** Mode is Observe. */
  | { readonly kind: 'wouldRepair'; readonly attempt: RepairAttempt }
  | { readonly kind: 'blocked'; readonly reason: HoldReason }
  | { readonly kind: 'vetoed'; readonly decision: Extract<NodeDecision, { kind: 'vetoed' }> }
  /** Due, and no NodeClaim stands for it. */
  | { readonly kind: 'unclaimed' }
  /** Its attempt was accepted and has not ended yet, or its NodeClaim is going away anyhow. */
  | { readonly kind: 'finishing' }
  /** Everything was tried, and the node is still unhealthy. */
  | { readonly kind: 'exhausted' }
  /** Well again after a rung that left the node in place. */
  | { readonly kind: 'recovered'; readonly attempt: RepairAttempt }
  /** The attempt of another run has no known outcome yet. */
  | { readonly kind: 'settle' }
);

/** What one node is judged by. */
export interface LookContext {
  readonly now: EpochMs;
  readonly rules: RepairRules;
  readonly settings: RepairSettings;
  readonly owners: OwnerIndex;
  readonly open: OpenAttempts;
  readonly episodes: ReadonlyMap<string, readonly Episode[]>;
}

/** The pool of a node is that of its NodeClaim; its own label counts only while there is none for certain. */
export function poolOf(node: NodeView, owner: Owner): string | undefined {
  return (owner.kind === 'claim' ? owner.claim : node).labels[NODE_POOL_LABEL];
}

export interface NodeLook {
  readonly verdict?: Verdict;
  readonly candidate?: Candidate;
  /** When to look again. */
  readonly time?: EpochMs;
}

export function lookAt(
  { now, rules, settings, episodes, owners, open }: LookContext,
  node: NodeView,
  hold: (due: Extract<NodeDecision, { kind: 'due' }>) => Candidate['hold'],
): NodeLook {
  const [verdict] = settling(node, open);
  if (verdict !== undefined) return { verdict };
  const decision = decide({ now, node, owner: ownerOf(node, owners), rules, episodes: episodes.get(node.uid) ?? [] });
  const previous = open.byNode.get(node.uid);
  const { message } = decision;
  if (previous !== undefined) {
    const isInPlace = previous.action !== 'Terminate' || previous.phase === 'observed';
    if (isInPlace && decision.kind === 'ignore' && decision.reason === 'Healthy') {
      return {
        verdict: {
          kind: 'recovered',
          node,
          attempt: previous,
          message: `the node is well again after ${previous.action}`,
        },
      };
    }
    const standing = standingOf(previous, rungsOf(settings), now);
    if (decision.kind !== 'due' && decision.kind !== 'finishing') return {};
    if (standing.kind === 'waiting' && previous.phase === 'observed') return {};
    if (standing.kind === 'waiting')
      return { verdict: { kind: 'finishing', node, message: describeAttempt(previous) } };
    if (standing.kind === 'exhausted') {
      return {
        verdict: { kind: 'exhausted', node, message: `${previous.action} did not help, and no further action is set` },
      };
    }
    if (decision.kind === 'finishing') return { verdict: { kind: 'finishing', node, message } };
    return {
      candidate: { node, due: decision, hold: hold(decision), rung: standing.rung, previous, stale: undefined },
    };
  }
  switch (decision.kind) {
    case 'due': {
      // Mode Observe takes nothing over: what an attempt left is taken back.
      const left = open.stale.find(attempt => attempt.node.uid === node.uid);
      const stale = rules.mode === 'Observe' ? undefined : left;
      return { candidate: { node, due: decision, hold: hold(decision), rung: stale?.rung ?? 0, previous, stale } };
    }
    case 'vetoed':
      return { verdict: { kind: 'vetoed', node, decision, message }, time: vetoCheckTime(decision.veto, now) };
    case 'blocked':
      return {
        verdict: { kind: 'blocked', node, reason: decision.reason, message },
        time: addDuration(now, BLOCKED_RETRY),
      };
    case 'finishing':
      return { verdict: { kind: 'finishing', node, message }, time: addDuration(now, FINISHING_CHECK) };
    case 'ignore':
      if (decision.reason !== 'NoNodeClaim') return {};
      return { verdict: { kind: 'unclaimed', node, message }, time: addDuration(now, BLOCKED_RETRY) };
    case 'refuse':
    case 'tolerate':
      return {};
  }
}

const describeAttempt = ({ action, claim, until }: RepairAttempt): string =>
  action === 'Terminate'
    ? `NodeClaim ${claim.name} is being terminated`
    : `${action} is under way${until === undefined ? '' : ` until ${toTimestamp(until)}`}`;

export function settling(node: NodeView, { byNode }: OpenAttempts): readonly Verdict[] {
  const attempt = byNode.get(node.uid);
  if (attempt?.phase !== 'intended') return [];
  return [{ kind: 'settle', node, message: `attempt ${attempt.number} may still be under way` }];
}
