/** The deadline of a termination: who sets it, and which one counts (I5). Pure. */
import { deadlineInForce, type Deadline, type GracePeriod } from '../../../../shared/domain/termination.ts';
import { addDuration, earliest, parseTimestamp, type EpochMs } from '../../../../shared/domain/time.ts';
import type { TerminatedClaim, TerminatedObject } from './objects.ts';
import type { SettingsOfPool } from './settings-in-force.ts';

/** Source of a deadline that stands in Karpenter's annotation. */
const FROM_ANNOTATION = 'annotation';
/** Source of a deadline that is the NodeClaim's own grace period. */
export const FROM_NODE_CLAIM = 'NodeClaim';

/** Fields that say until when a termination may take. */
export interface DeadlineObservation {
  /** The deadline of the termination under way. */
  readonly storedDeadline: Deadline | undefined;
  /** The NodePool or policy that set it was edited and sets none any more. */
  readonly isDeadlineTakenBack: boolean;
  readonly claim: Pick<TerminatedClaim, 'deletionTime' | 'gracePeriod' | 'terminationTimestamp'> | undefined;
  readonly nodes: readonly Pick<TerminatedObject, 'deletionTime'>[];
  readonly settings: SettingsOfPool;
}

/** The grace period that NodePool or policy give. */
export const gracePeriodOf = (settings: SettingsOfPool): GracePeriod | undefined =>
  settings.kind === 'custom'
    ? settings.settings.gracePeriod
    : settings.kind === 'invalid'
      ? settings.gracePeriod
      : undefined;

/**
 * The deadline: Karpenter's annotation first, for it is absolute, and repair forces by it. Else the deletion plus the NodeClaim's own grace
 * period, else that of NodePool or policy. An earlier deadline counts as in `deadlineInForce`.
 */
export function resolveDeadline(observation: DeadlineObservation): {
  deadline: Deadline | undefined;
  badTimestamp: string | undefined;
} {
  const { claim, nodes, settings, storedDeadline } = observation;
  const { terminationTimestamp, gracePeriod } = claim ?? {};
  const declared = terminationTimestamp === undefined ? undefined : parseTimestamp(terminationTimestamp);
  const badTimestamp = declared === undefined ? terminationTimestamp : undefined;
  const deletion = claim?.deletionTime ?? nodes.map(({ deletionTime }) => deletionTime).reduce(earliest, undefined);
  const grace: GracePeriod | undefined =
    gracePeriod === undefined ? gracePeriodOf(settings) : { period: gracePeriod, source: FROM_NODE_CLAIM };
  const current =
    declared !== undefined
      ? { time: declared, source: FROM_ANNOTATION }
      : deletion === undefined || grace === undefined
        ? undefined
        : endOf(grace, deletion);
  // Removing the annotation takes back what it asked for. An unreadable annotation does not.
  const isTakenBack =
    observation.isDeadlineTakenBack ||
    (claim !== undefined && storedDeadline?.source === FROM_ANNOTATION && terminationTimestamp === undefined);
  return { deadline: deadlineInForce(isTakenBack ? undefined : storedDeadline, current), badTimestamp };
}

const endOf = ({ period, ...by }: GracePeriod, deletion: EpochMs): Deadline => ({
  time: addDuration(deletion, period),
  ...by,
});
