/** The marks that a reboot leaves on its Node, and which of them are ours: its time, a cordon, a condition. Pure. */
import type { Act, NodeRecord, RepairLeftovers } from '../record.ts';
import { newNode } from './attempt.ts';
import { isRebootTried } from './ladder.ts';
import { fieldsOf, readJson } from '../../../../shared/domain/json.ts';
import { isOwnCondition } from '../../../../shared/domain/node-drain-conditions.ts';
import type { Owner } from '../../../../shared/domain/node-owner.ts';
import { CORDONED_BY_REPAIR_ANNOTATION, type NodeCondition, type NodeView } from '../../../../shared/domain/node.ts';
import { addDuration, type EpochMs, hours, isDue, parseTimestamp, toIsoText } from '../../../../shared/domain/time.ts';

/**
 * The annotation with our last reboot. It stands on the Node, where it survives the loss of the table, and on its NodeClaim, where it survives
 * the Node: a machine may register a new one at each boot.
 */
export const LAST_REBOOT_ANNOTATION = 'curfew.dev/last-reboot';

interface LastReboot {
  readonly time: EpochMs;
  /** Number of reboots, this one among them. */
  readonly count: number;
  readonly bootID: string | undefined;
}

export const lastRebootText = (acts: readonly Act[], now: EpochMs, bootID: string | undefined): string =>
  JSON.stringify({
    time: toIsoText(now),
    ...(bootID !== undefined && { bootID }),
    count: acts.filter(({ action }) => action === 'Reboot').length + 1,
  });

/** The largest count that is read: no allowance is larger. */
const MAX_COUNT = 20;

/**
 * The last reboot by the annotation; undefined: there was none, or somebody changed the value so that it has no time.
 * Then it forbids nothing. Never throws.
 */
function readLastReboot({ annotations }: Pick<NodeView, 'annotations'>): LastReboot | undefined {
  const { time: timeText, count, bootID } = fieldsOf(readJson(annotations[LAST_REBOOT_ANNOTATION]));
  const time = typeof timeText === 'string' ? parseTimestamp(timeText) : undefined;
  if (time === undefined) return undefined;
  const isCount = typeof count === 'number' && Number.isInteger(count);
  return {
    time,
    // An annotation with a time stands for one reboot at least.
    count: isCount ? Math.min(Math.max(count, 1), MAX_COUNT) : 1,
    bootID: typeof bootID === 'string' ? bootID : undefined,
  };
}

/** The first record of a Node, with the reboots that are shown. */
export const firstNodeRecord = (
  node: Pick<NodeView, 'name' | 'annotations'>,
  pool: string | undefined,
  owner: Owner,
): NodeRecord => withShownReboots(newNode(node.name, pool), node, owner);

/**
 * The record with the reboots that the Node shows, or else those of its NodeClaim, if it knows of no act itself: the table may have been
 * restored, and the NodeClaim of a new Node is not certain at first. While a reboot is tried, the mark may be that of this one.
 */
export function withShownReboots(record: NodeRecord, node: Pick<NodeView, 'annotations'>, owner: Owner): NodeRecord {
  if (record.acts.length > 0 || record.attempt !== undefined || isRebootTried(record.refusals)) return record;
  const own = actsOf(node);
  const acts = own.length > 0 || owner.kind !== 'claim' ? own : actsOf(owner.claim);
  return acts.length === 0 ? record : { ...record, acts: [...acts] };
}

/** Reboots that the annotation of an object shows. They can only forbid another one. */
export function actsOf(object: Pick<NodeView, 'annotations'>): readonly Act[] {
  const read = readLastReboot(object);
  if (read === undefined) return [];
  const { time, count, bootID } = read;
  const reboot: Act = { key: 'Reboot||0', action: 'Reboot', time, ...(bootID !== undefined && { bootID }) };
  return Array.from({ length: count }, () => reboot);
}

/** The type of the condition by which other controllers see that a node is under maintenance. */
export const MAINTENANCE = 'MaintenanceInProgress';

/** Whether the conditions of a Node say that a reboot of ours is under way. */
export const isMaintained = (conditions: readonly NodeCondition[]): boolean =>
  conditions.some(each => each.type === MAINTENANCE && each.status === 'True' && isOwnCondition(each));

/** Whether the Node carries marks of a reboot of ours. */
export const isMarked = ({ annotations, conditions }: Pick<NodeView, 'annotations' | 'conditions'>): boolean =>
  annotations[CORDONED_BY_REPAIR_ANNOTATION] !== undefined || isMaintained(conditions);

/**
 * The leftovers, with the marks of a reboot of ours that the Node carries. A record from before the reboot, as after a
 * restore of the table, does not have them (I7).
 */
export function withMarks(
  { leftovers }: Pick<NodeRecord, 'leftovers'>,
  node: Pick<NodeView, 'annotations' | 'conditions'>,
): RepairLeftovers | undefined {
  return isMarked(node) ? { ...leftovers, maintenance: true } : leftovers;
}

/** A reboot counts as just made for this long. */
const JUST_REBOOTED_FOR = hours(1);

/** Whether Curfew has rebooted the node a short while ago. */
export function isJustRebooted(node: NodeView, now: EpochMs): boolean {
  const last = readLastReboot(node);
  return last !== undefined && !isDue(now, addDuration(last.time, JUST_REBOOTED_FOR));
}
