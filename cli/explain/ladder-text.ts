/**
 * Describes a list of actions in a sentence: `reboots at most twice a day, then launches a replacement for 20 minutes,
 * then terminates`. Pure.
 */
import type { ExplainedNode } from '../../functions/repair/explain.ts';
import { formatDuration } from '../../shared/domain/go-duration.ts';
import {
  DEFAULT_ACTIONS,
  type DrainBound,
  type EntryTerms,
  type RepairAction,
  type RepairSettings,
} from '../../shared/domain/repair-policy.ts';
import { type DurationMs, hours, minutes } from '../../shared/domain/time.ts';

/** Each list of a block, and whose it is. */
export function ladderTexts({
  actions,
  drainBound,
  overrides,
  conditions,
}: RepairSettings): readonly { readonly path: string; readonly text: string }[] {
  const entries = [
    ...overrides.map((entry, index) => ({ entry, path: `spec.repair.policies[${index}]` })),
    ...conditions.map((entry, index) => ({ entry, path: `spec.repair.conditions[${index}]` })),
  ].flatMap(({ entry, path }) =>
    entry.actions === undefined && entry.drainBound === undefined && entry.confirm === undefined
      ? []
      : [
          {
            path,
            text: `${textOf(entry.actions ?? actions ?? DEFAULT_ACTIONS, entry.drainBound ?? drainBound)}${confirmText(entry)}`,
          },
        ],
  );
  const isStated = actions !== undefined || drainBound !== undefined;
  return [
    ...(isStated ? [{ path: 'spec.repair', text: textOf(actions ?? DEFAULT_ACTIONS, drainBound) }] : []),
    ...entries,
  ];
}

/** Describes what the deciding entry of the rules does with the node. */
export function termsText(
  { actions, drainBound, confirm }: NonNullable<ExplainedNode['terms']>,
  { launchFault, replacement }: Pick<ExplainedNode, 'launchFault' | 'replacement'>,
): string {
  const isFaulty = launchFault !== undefined && replacement === undefined;
  const done = actions.filter(({ type }) => !isFaulty || type !== 'ReplaceThenTerminate');
  const launches = isFaulty ? [`launches no replacement: ${launchFault}`] : [];
  const acts = done.length === 0 ? [] : [textOf(done, drainBound, replacement)];
  return `${[...acts, ...launches].join('; ')}${confirmText({ confirm })}`;
}

function textOf(actions: readonly RepairAction[], bound: DrainBound | undefined, replacement?: string): string {
  return `${actions.map(action => actionText(action, replacement)).join(', then ')}${boundText(bound)}`;
}

/** @param replacement the NodeClaim that was launched already */
function actionText(action: RepairAction, replacement: string | undefined): string {
  const { timeout, attempts, within } = action;
  switch (action.type) {
    case 'Reboot':
      return `reboots at most ${timesText(attempts)} ${withinText(within)}`;
    case 'CustomResource':
      return `asks for help by template ${action.template} for ${lengthText(timeout)}`;
    case 'ReplaceThenTerminate':
      return replacement === undefined
        ? `launches a replacement for ${lengthText(timeout)}`
        : `lets its replacement, NodeClaim ${replacement}, take its place`;
    case 'DrainThenTerminate':
      return `drains for ${lengthText(timeout)} and terminates`;
    case 'Terminate':
      return 'terminates';
  }
}

function boundText(bound: DrainBound | undefined): string {
  if (bound === undefined) return '';
  if (bound === 'Inherit') return "; pods have as long as the NodeClaim's terminationGracePeriod";
  return bound === 0 ? '; pods have no time to leave' : `; pods have ${lengthText(bound)} to leave`;
}

const confirmText = ({ confirm }: Partial<EntryTerms>): string =>
  confirm === undefined ? '' : `; of Ready=Unknown only while EC2 says impaired of ${confirm}`;

const timesText = (count: number): string => (count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`);

const withinText = (within: DurationMs): string => (within === hours(24) ? 'a day' : `in ${lengthText(within)}`);

function lengthText(duration: DurationMs): string {
  const [count, unit] = duration % hours(1) === 0 ? [duration / hours(1), 'hour'] : [duration / minutes(1), 'minute'];
  if (!Number.isInteger(count)) return formatDuration(duration);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
