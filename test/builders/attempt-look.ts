/** A look at a node with an attempt: what tests of attempts share. */
import { dueVerdictOf, type PresentNode } from '../../functions/repair/node/rule/finding.ts';
import { keyOf } from '../../functions/repair/node/rule/ladder.ts';
import type { Attempt } from '../../functions/repair/node/attempt-record.ts';
import type { NodeRecord } from '../../functions/repair/node/record.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { Refusal } from '../../shared/domain/refusal.ts';
import { at, NOW, remembered } from './pool.ts';
import { aCondition, aFinding, aPoolNode, type Look } from './repair.ts';

/** When the act began. */
export const ACTED = NOW;
export const NODE = aPoolNode('n1', undefined, { bootID: 'boot-1' });
export const WELL: NodeView = { ...NODE, conditions: [aCondition('Ready', 'True', at(1))] };
export const VETOED: NodeView = { ...NODE, annotations: { 'curfew.dev/do-not-repair': 'true' } };

/** What a look rests on: the node, what is remembered of it beside the attempt, and what stands beside it. */
export type AttemptLook = Look & { readonly node?: NodeView; readonly more?: Partial<NodeRecord> };

/** What is found of the node so many minutes after the act. */
export function look(attempt: Attempt, { node = NODE, more, ...given }: AttemptLook = {}, minute = 5): PresentNode {
  const taken = attempt.phase === 'accepted' ? [attempt.key] : [];
  const record = remembered({ number: attempt.number, attempt, incident: { type: 'Ready', taken }, ...more });
  return aFinding(node, { record, now: at(minute), ...given });
}

/** What is to be done next, by its key. */
export function nextOf(finding: PresentNode): string | undefined {
  const due = dueVerdictOf(finding);
  return due && keyOf(due.action);
}

/** An action that was refused at that minute, for the third time. */
export function refused(key: string, minute: number, basis = ''): Pick<NodeRecord, 'refusals'> {
  const time = at(minute);
  const refusal: Refusal = { cause: 'request', message: 'no', basis, count: 3, firstTime: time, lastTime: time };
  return { refusals: { [key]: refusal } };
}
