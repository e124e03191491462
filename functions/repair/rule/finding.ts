/** What is found of a node, by what is said of it. Pure. */
import {
  type DueAction,
  type Finding,
  type NodeFinding,
  type Verdict,
  VERDICT_TRAITS,
  type VerdictTrait,
} from './verdict.ts';

/** The action that the node is due for, before the pool has decided. */
export const dueOf = ({ verdict }: Pick<NodeFinding, 'verdict'>): DueAction | undefined =>
  verdict?.kind === 'due' ? verdict : undefined;

/** Whether the verdict, or the due action, has the trait. */
export const hasTrait = (verdict: NodeFinding['verdict'], trait: VerdictTrait): boolean =>
  verdict !== undefined && VERDICT_TRAITS[verdict.kind].includes(trait);

/** What is found of a node by what is said of it. @param more what its attempt and its marks add to that */
export function toFinding(
  record: Finding['record'],
  verdict: Finding['verdict'],
  time?: Finding['time'],
  more?: Partial<Pick<Finding, 'state' | 'needsCleanUp' | 'news'>>,
): Finding {
  const state = (['inFlight', 'followed'] as const).find(each => hasTrait(verdict, each)) ?? 'idle';
  const needsCleanUp = hasTrait(verdict, 'needsCleanUp');
  return { record, verdict, time, state, needsCleanUp, news: [], ...more };
}

/** A finding of a node whose repair is under way. */
export const inFlight = (
  record: Finding['record'],
  verdict: Finding['verdict'],
  time: Finding['time'],
  needsCleanUp = false,
): Finding => toFinding(record, verdict, time, { state: 'inFlight', needsCleanUp });

/** What is decided of the node. */
export const verdictOf = ({ verdict }: Pick<NodeFinding, 'verdict'>): Verdict | undefined =>
  verdict?.kind === 'due' ? undefined : verdict;
