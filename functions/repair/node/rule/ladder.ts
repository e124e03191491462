/**
 * The ladder: the actions of `repair.actions` in their order, each as one act or two. An edit of its type, template or
 * timeout makes an action a new one. Pure.
 */
import type { Attempt } from '../attempt-record.ts';
import { readableSettings } from './incident.ts';
import type { NodeRecord } from '../record.ts';
import type { RepairInForce } from './settings-in-force.ts';
import type { LadderAction, PossibleAction } from './verdict.ts';
import { NODE_POOL_LABEL, type NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import {
  actionListsOf,
  DEFAULT_ACTIONS,
  type DrainBound,
  type RepairAction,
} from '../../../../shared/domain/repair-policy.ts';
import { type DurationMs, hours, minutes, toDurationMs } from '../../../../shared/domain/time.ts';

/**
 * The actions in their order. A reboot whose pods have time becomes a drain and the reboot.
 * @param claimGracePeriod the NodeClaim's terminationGracePeriod
 */
export function ladderOf(
  {
    actions = DEFAULT_ACTIONS,
    drainBound,
  }: { readonly actions?: readonly RepairAction[] | undefined; readonly drainBound?: DrainBound | undefined },
  claimGracePeriod?: DurationMs,
): readonly LadderAction[] {
  return actions.flatMap((action: RepairAction): LadderAction[] => {
    switch (action.type) {
      case 'Reboot': {
        const bound = drainBound === 'Inherit' ? (claimGracePeriod ?? action.timeout) : (drainBound ?? NO_TIME);
        const timeout = toDurationMs(Math.min(bound, claimGracePeriod ?? bound));
        const reboot = { ...action, type: action.type };
        return timeout > 0 ? [{ ...action, type: 'Drain', timeout, reboot }, reboot] : [reboot];
      }
      case 'DrainThenTerminate': {
        const drain: LadderAction = { ...action, type: 'Drain' };
        const after = { type: 'Drain', key: keyOf(drain), timeout: drain.timeout } as const;
        return [drain, { ...action, type: 'Terminate', timeout: STUCK_AFTER, after }];
      }
      case 'ReplaceThenTerminate':
        return [{ ...action, type: 'Replace' }];
      case 'CustomResource':
      case 'Terminate':
        return [action];
    }
  });
}

/**
 * The actions of a ladder that are possible at a node: without a NodeClaim of a NodePool there is nothing to replace.
 */
export function possibleActions(ladder: readonly LadderAction[], claim?: NodeClaimView): readonly PossibleAction[] {
  const pool = claim?.labels[NODE_POOL_LABEL];
  const launch = claim && pool !== undefined ? { claim: { name: claim.name, uid: claim.uid }, pool } : undefined;
  return ladder.flatMap((action): PossibleAction[] => {
    if (action.type !== 'Replace') return [action];
    return launch ? [{ ...action, launch }] : [];
  });
}

const NO_TIME = minutes(0);

const DRAIN_BEFORE_REBOOT = 'Drain before Reboot|';

type DrainForReboot = Extract<LadderAction, { readonly type: 'Drain' }> & { readonly reboot: object };

/** Whether the action is the drain of a reboot. */
export const isForReboot = (action: LadderAction): action is DrainForReboot =>
  action.type === 'Drain' && action.reboot !== undefined;

/** Whether the attempt is at the drain of a reboot. Its record has the key alone. */
export const isBeforeReboot = ({ key }: Pick<Attempt, 'key'>): boolean => key.startsWith(DRAIN_BEFORE_REBOOT);

/** Whether a reboot, or the drain before it, was refused and is tried again: the maintenance of the node stays. */
export const isRebootTried = (refusals: NodeRecord['refusals'] = {}): boolean =>
  Object.keys(refusals).some(isRebootKey);

/** Whether the key is that of a reboot, or of the drain before it. */
export const isRebootKey = (key: string): boolean => key.startsWith('Reboot|') || isBeforeReboot({ key });

/** The actions of every entry; none: no settings can be read. */
export function allActionsOf(repair: Pick<RepairInForce, 'settings'>): readonly LadderAction[] {
  const settings = readableSettings(repair);
  return settings === undefined ? [] : actionListsOf(settings).flatMap(actions => ladderOf({ actions }));
}

/** A termination is stuck after this long, unless its action states a timeout. */
const STUCK_AFTER = hours(1);

type Keyed<Action> = Action extends LadderAction ? Omit<Action, 'attempts' | 'within'> : never;

/** Two actions with one key are the same action. */
export function keyOf(action: Keyed<LadderAction>): string {
  const own = `${action.type}|${action.type === 'CustomResource' ? action.template : ''}|${action.timeout}`;
  if (action.type === 'Drain' && action.reboot !== undefined) return `${DRAIN_BEFORE_REBOOT}|${action.reboot.timeout}`;
  return action.type === 'Terminate' && action.after?.type === 'Replace' ? action.after.key : own;
}

/** Acts of one kind count against one allowance, whatever their timeout. */
export const kindOf = (key: string): string => key.slice(0, key.lastIndexOf('|'));

type Termination = Extract<LadderAction, { readonly type: 'Terminate' }>;

/** The termination that follows once the replacement of the launch of this key is ready. */
export const terminationOfReplaced = (key: string): Termination => ({
  type: 'Terminate',
  timeout: STUCK_AFTER,
  // Neither bounds a termination.
  attempts: 1,
  within: STUCK_AFTER,
  after: { type: 'Replace', key },
});

/** Whether the list still has a launch. One under way keeps the timeout that it began with, whatever the list says by now. */
export const hasLaunch = (ladder: readonly LadderAction[]): boolean => ladder.some(({ type }) => type === 'Replace');
