/** Phase of a drain, whose its pods are by then, and properties of its requests. Pure; part of `decide`. */
import { REPAIR_SOURCE } from '../../../shared/domain/source.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { DrainConfiguration, DrainedNode, DrainObservation, RequestMessage } from './observation.ts';
import type { ActiveDrain, CustomProgress, DrainRecord, EndingPhase, OpenPhase } from '../record.ts';
import type { DrainOutcome, DrainRequest } from '../request-record.ts';

type InPhase = Pick<ActiveDrain, 'phase'>;

/** The phase of a drain, or its phase when its end was decided. */
export const openPhaseOf = ({ phase }: InPhase): OpenPhase => (phase.kind === 'ending' ? phase.before : phase);

export const isEnding = ({ phase }: InPhase): boolean => phase.kind === 'ending';

/** Whether the drain waits in the queue, or did until its end was decided. */
export const isWaiting = (active: InPhase): boolean => openPhaseOf(active).kind === 'waiting';

/** The custom resource of the drain, as the record has it. */
export function recordedResource(active: InPhase): CustomProgress | undefined {
  const phase = openPhaseOf(active);
  return phase.kind === 'custom' ? phase.resource : undefined;
}

/** The requests of the drain under way that can still be taken back: none once its end is decided. */
export const openRequests = ({ active }: Pick<DrainRecord, 'active'>): readonly DrainRequest[] =>
  active === undefined || isEnding(active) ? [] : active.requests;

/** The phase of a drain whose end is decided now. */
export const endingPhase = (active: InPhase, outcome: DrainOutcome, time: EpochMs): EndingPhase => ({
  kind: 'ending',
  outcome: { ...outcome, time },
  over: [],
  before: openPhaseOf(active),
});

export const isAskedByRepair = ({ requestedBy }: { readonly requestedBy?: string }): boolean =>
  requestedBy === REPAIR_SOURCE;

/** Whether its pods go at once, whatever their modes. */
export const isForceful = ({ event }: Pick<DrainRequest, 'event'>): boolean => event.drainOverrides?.force === true;

/** Whether all pods go, whatever the configuration says. */
export const isForAllPods = ({ allPods }: Pick<DrainRequest, 'allPods'>): boolean => allPods === true;

/** Whether the drain is for all pods, and needs no configuration: one such request is enough. A drain that a controller carries out needs it. */
export function goesForAllPods({
  requests,
  phase,
}: Pick<ActiveDrain, 'requests'> & { readonly phase: ActiveDrain['phase'] | undefined }): boolean {
  const kind = phase && openPhaseOf({ phase }).kind;
  return kind !== 'custom' && kind !== 'fallback' && requests.some(isForAllPods);
}

/** Whether the message asks for a drain. */
export const isRequest = (incoming: { readonly kind: string } | undefined): incoming is RequestMessage =>
  incoming !== undefined && 'request' in incoming;

/** The requests of the drain under way, else of the next one, without one that is about to end. */
export function remainingRequests({
  record: { active, requests },
  incoming,
}: Pick<DrainObservation, 'record' | 'incoming'>): readonly DrainRequest[] {
  const next = active?.requests ?? [...requests, ...(isRequest(incoming) ? [incoming.request] : [])];
  const endedId = incoming?.kind === 'cancelled' || incoming?.kind === 'withdrawn' ? incoming.id : undefined;
  return next.filter(({ id }) => id !== endedId);
}

/** Whether the drain is, or was, its controller's: once that was asked, it stays so whatever becomes of the node's labels. */
export function isCustomDrain(
  active: Pick<ActiveDrain, 'phase'>,
  configuration: DrainConfiguration,
  { labels }: Pick<DrainedNode, 'labels'>,
): boolean {
  if (configuration.settings.customDrain === undefined) return false;
  const { kind } = openPhaseOf(active);
  return kind === 'custom' || kind === 'fallback' || configuration.isCustom(labels);
}

/** Whether the pods are left to the custom resource of the drain, or will be. */
export const isLeftToCustomResource = (...of: Parameters<typeof isCustomDrain>): boolean =>
  isCustomDrain(...of) && openPhaseOf(of[0]).kind !== 'fallback';
