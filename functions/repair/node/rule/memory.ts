/** Carries a node's record over from one look to the next, and says when what is remembered ends by itself. Pure. */
import { isRebootUnderWay, replacementOf } from './attempt.ts';
import { dueVerdictOf, type Finding, type PresentNode, withState } from './finding.ts';
import { nextEpisodes } from './flapping.ts';
import { endOf, type HealthNow, HEALTHY_FOR, incidentAt } from './incident.ts';
import { isRebootTried } from './ladder.ts';
import type { JudgeContext, NodeFacts } from './node-facts.ts';
import { type OnsetContext, unhealthyConditions } from './onset.ts';
import { withMarks } from './reboot-marks.ts';
import { replacementNow, unmarkTime } from './replacement.ts';
import { REPORT_CODES } from './verdict.ts';
import type { Attempt, Replacement } from '../attempt-record.ts';
import type { Episode, NodeRecord } from '../record.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import type { RepairSettings } from '../../../../shared/domain/repair-policy.ts';
import { addDuration, earliest, type EpochMs, isDue } from '../../../../shared/domain/time.ts';

/** The episodes of the node after this look; without `flapping` none counts. */
export function episodesAfter(
  node: NodeView,
  settings: RepairSettings,
  before: readonly Episode[],
  looked: Parameters<typeof unhealthyConditions>[2],
): readonly Episode[] {
  const { flapping } = settings;
  if (flapping === undefined) return [];
  const unhealthy = unhealthyConditions(node, settings, looked);
  return nextEpisodes(node, { window: flapping.window, unhealthy }, before, looked.now);
}

/** The time at which the forwarder saw the change that this pass is for, and whether no event has named the node. */
export function eventTimesOf(
  { seenChanges, changesTime, isUnprompted }: JudgeContext,
  { uid }: NodeView,
  recordBefore: NodeRecord | undefined,
): Pick<OnsetContext, 'ownTime' | 'statusChanged' | 'observedTime' | 'isUnprompted'> {
  const { time: ownTime, statusChanged } = seenChanges.get(uid) ?? {};
  // A condition that gets the time it lacked has not changed.
  const wasWithoutTime = recordBefore?.reported?.code === REPORT_CODES.noTransitionTime;
  const observedTime = wasWithoutTime ? undefined : (ownTime ?? changesTime);
  return { ownTime, statusChanged, observedTime, isUnprompted: isUnprompted?.(uid) === true };
}

/** The part of the record that comes from earlier passes: pool, incident, marks and acts, as they stand from now on. */
export function rememberedRecord(
  recordSoFar: NodeRecord,
  context: JudgeContext,
  node: NodeView,
  health: HealthNow,
): Omit<NodeRecord, 'otherWork'> {
  const { now, pool } = context;
  const { incident: _, otherWork: __, pool: ___, leftovers: ____, ...otherFields } = recordSoFar;
  const leftovers = withMarks(recordSoFar, node);
  const replacement = leftovers?.replacement && replacementNow(leftovers.replacement, context, now);
  const incident = incidentAt(recordSoFar.incident, health, now);
  return {
    ...otherFields,
    name: node.name,
    ...(pool !== undefined && { pool }),
    ...(leftovers && { leftovers: replacement ? { ...leftovers, replacement } : leftovers }),
    ...(replacement && recordSoFar.attempt && { attempt: withReplacement(recordSoFar.attempt, replacement) }),
    incident,
    ...(recordSoFar.incident !== undefined && incident === undefined && endOf(recordSoFar)),
  };
}

/** The attempt with what is known of its replacement by now. */
const withReplacement = (attempt: Attempt, replacement: Replacement): Attempt =>
  attempt?.action === 'Replace' && attempt.replacement.name === replacement.name
    ? { ...attempt, replacement }
    : attempt;

/**
 * Adds to the finding what ends by itself: an incident after a while, the marks of a replacement, and the work of
 * another controller.
 * @param othersUntil time until which another controller's work is in flight; undefined: it is not
 */
export function withExpiries(
  { node, record: { incident }, isOn, context: { now, repair } }: NodeFacts,
  finding: Finding,
  othersUntil: EpochMs | undefined,
): PresentNode {
  const { record } = finding;
  const { attempt, refusals, leftovers } = record ?? {};
  const healthySince = record && (record.incident?.healthySince ?? incident?.healthySince);
  const incidentEnds = healthySince && addDuration(healthySince, HEALTHY_FOR);
  const { replacement, annotation, maintenance } = leftovers ?? {};
  const unmarks = replacement && unmarkTime(replacement);
  const isUnmarkDue = unmarks !== undefined && isDue(now, unmarks);
  const isUnused = replacement !== undefined && unmarks === undefined && replacementOf(attempt) === undefined;
  const mayReboot = isRebootUnderWay(attempt, now) || isRebootTried(refusals);
  const isMaintenanceOver =
    maintenance === true && !mayReboot && (attempt === undefined || attempt.action === 'Reboot');
  const isDeadlineOver = annotation !== undefined && attempt?.action !== 'Terminate';
  // A run that died has left this behind, and no action that is due now would use it.
  const isAbandoned = isUnused || isMaintenanceOver || isDeadlineOver;
  const isActDue = dueVerdictOf(finding) !== undefined && repair.mode === 'Enforce';
  const judged = {
    ...finding,
    hasUselessLeftovers: finding.hasUselessLeftovers || isUnmarkDue || (isAbandoned && !isActDue),
    isUnderOtherWork: othersUntil !== undefined && isOn,
    nextLookTime: [incidentEnds, unmarks, othersUntil].reduce(earliest, finding.nextLookTime),
  };
  return { ...withState(judged), kind: 'present', node };
}
