/** Moves attempts that an earlier version kept in the record of a pool into the records of its nodes. */
import { actOf, annotationOf, newNode } from './node/rule/attempt.ts';
import { keyOf, ladderOf } from './node/rule/ladder.ts';
import { readAttempt, type StoredNode } from './record.ts';
import type { OldAttempt } from './stored-versions.ts';
import type { PoolRecord } from './pool-record.ts';
import type { NodeRecord } from './node/record.ts';
import type { LadderAction } from './node/rule/verdict.ts';
import { toJson } from '../../shared/domain/json.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { RepairSettings } from '../../shared/domain/repair-policy.ts';
import { addDuration, hours } from '../../shared/domain/time.ts';

/** The records of nodes, and what stays in the pool's record. */
export interface MovedAttempts {
  readonly records: ReadonlyMap<string, StoredNode>;
  readonly oldAttempts: PoolRecord['oldAttempts'];
}

/** Puts what the pool's record knew of its nodes into their records. All stays where it is for want of readable settings. */
export function moveOldAttempts(
  old: readonly OldAttempt[],
  stored: ReadonlyMap<string, StoredNode>,
  nodes: readonly NodeView[],
  settings: RepairSettings | undefined,
): MovedAttempts {
  const present = new Set(nodes.map(({ uid }) => uid));
  const remaining = old.filter(each => !isNothingLeft(each, present));
  if (settings === undefined) return { records: stored, oldAttempts: remaining.length === 0 ? undefined : remaining };
  const records = new Map(stored);
  for (const each of remaining) {
    const { uid, name } = each.node;
    const recordBefore = records.get(uid)?.value ?? newNode(name, undefined);
    records.set(uid, { value: mergeOldAttempt(recordBefore, each, ladderOf(settings)), needsRewrite: true });
  }
  return { records, oldAttempts: undefined };
}

/**
 * The record of the node with what the pool's record knew of it.
 * @param ladder the ladder of its pool, by which places in it are read
 */
export function mergeOldAttempt(record: NodeRecord, old: OldAttempt, ladder: readonly LadderAction[]): NodeRecord {
  const { number, phase, intendedTime: time, node, incident: dueCondition, action, isLeft } = old;
  const { requestId, resources, mayHaveMade } = old;
  const at = ladder[old.rung];
  const isSame = at?.type === action;
  const key = isSame ? keyOf(at) : keyOf({ type: action, template: '', timeout: hours(1) });
  const isOver = phase === 'observed' || phase === 'refused' || old.notTaken === true || isLeft === true;
  const until = old.until ?? addDuration(time, hours(1));
  const drain = action === 'CustomResource' ? undefined : requestId;
  // `readAttempt` drops fields that this action does not have.
  const attempt = readAttempt(toJson({ ...old, phase: phase === 'accepted' ? phase : 'intended', time, key, until }));
  const annotation = isOver ? annotationOf(attempt) : undefined;
  const leftovers = {
    ...record.leftovers,
    ...(drain !== undefined && { drain }),
    ...(resources && { resources: [...resources] }),
    ...(mayHaveMade && { mayHaveMade: [...mayHaveMade] }),
    ...(annotation && { annotation }),
  };
  const kept = Object.keys(leftovers).length > 0 ? { leftovers } : {};
  if (isLeft === true) return { ...record, ...kept, name: node.name, number: Math.max(record.number, number) };
  const last = phase === 'observed' ? old.carriedOut?.rung : old.rung - 1;
  const takenActions = isSame || phase === 'observed' ? ladder.slice(0, (last ?? -1) + 1) : [];
  const isTaken = !isOver && phase === 'accepted';
  const taken = [...takenActions.map(keyOf), ...(isTaken ? [key] : [])];
  const acts = isTaken ? [actOf({ ...old, key, time })] : [];
  return {
    ...record,
    ...kept,
    name: node.name,
    number: Math.max(record.number, number),
    incident: { type: dueCondition.conditionType, taken },
    acts: [...record.acts, ...acts],
    ...(!isOver && attempt && { attempt }),
  };
}

/** Whether the Node is gone and the attempt has made nothing that is left. @param present UIDs of the pool's nodes */
export const isNothingLeft = ({ node, resources, mayHaveMade }: OldAttempt, present: ReadonlySet<string>): boolean =>
  !present.has(node.uid) && resources === undefined && mayHaveMade === undefined;
