/** How an attempt that an earlier version kept in the record of its pool goes into the record of its node. Pure. */
import { addDuration, hours } from '../../../shared/domain/time.ts';
import { keyOf, type Rung } from './ladder.ts';
import type { CarriedAttempt, NodeRecord } from './record.ts';

/** The record of the node with what the pool's record knew of it. @param rungs of its pool, by which places in the ladder are read */
export function intoNode(record: NodeRecord, carried: CarriedAttempt, rungs: readonly Rung[]): NodeRecord {
  const { number, phase, intendedTime: time, node, incident, claim, action, isLeft } = carried;
  const { requestId, resources, mayHaveMade, terminationTimestamp, previousTimestamp } = carried;
  const at = rungs[carried.rung];
  const isSame = at?.type === action;
  const key = isSame ? keyOf(at) : keyOf({ type: action, timeout: hours(1) });
  const isOver = phase === 'observed' || phase === 'refused' || carried.notTaken === true || isLeft === true;
  const until = carried.until ?? addDuration(time, hours(1));
  const drain = action === 'CustomResource' ? undefined : requestId;
  const annotation =
    isOver && action === 'Terminate' && terminationTimestamp !== undefined && claim !== undefined
      ? { claim, set: terminationTimestamp, ...(previousTimestamp !== undefined && { previous: previousTimestamp }) }
      : undefined;
  const ours = {
    ...record.ours,
    ...(drain !== undefined && { drain }),
    ...(resources && { resources: [...resources] }),
    ...(mayHaveMade && { mayHaveMade: [...mayHaveMade] }),
    ...(annotation && { annotation }),
  };
  const kept = Object.keys(ours).length > 0 ? { ours } : {};
  if (isLeft === true) return { ...record, ...kept, name: node.name, number: Math.max(record.number, number) };
  const last = phase === 'observed' ? carried.carriedOut?.rung : carried.rung - 1;
  const before = isSame || phase === 'observed' ? rungs.slice(0, (last ?? -1) + 1) : [];
  const isTaken = !isOver && phase === 'accepted';
  const taken = [...before.map(keyOf), ...(isTaken ? [key] : [])];
  const acts = isTaken ? [{ key, action, time, ...(carried.bootID !== undefined && { bootID: carried.bootID }) }] : [];
  return {
    ...record,
    ...kept,
    name: node.name,
    number: Math.max(record.number, number),
    illness: { type: incident.conditionType, taken },
    acts: [...record.acts, ...acts],
    ...(!isOver && {
      attempt: {
        number,
        phase: phase === 'intended' ? 'intended' : 'accepted',
        time,
        ...(claim && { claim }),
        incident,
        action,
        key,
        until,
        ...(carried.answer && { answer: carried.answer }),
        ...(terminationTimestamp !== undefined && { terminationTimestamp }),
        ...(previousTimestamp !== undefined && { previousTimestamp }),
        ...(carried.bootID !== undefined && { bootID: carried.bootID }),
        ...(requestId !== undefined && { requestId }),
      },
    }),
  };
}

/** Nothing of it is left to follow once its Node is gone. @param present UIDs of the pool's nodes */
export const isSettledBy = ({ node, resources, mayHaveMade }: CarriedAttempt, present: ReadonlySet<string>): boolean =>
  !present.has(node.uid) && resources === undefined && mayHaveMade === undefined;
