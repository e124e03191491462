/** What becomes of a request, and of messages that end one. Pure; part of `decide`. */
import { addDuration, hours, isDue, type EpochMs } from '../../shared/domain/time.ts';
import {
  faultOf,
  isEndedBy,
  type ActiveDrain,
  type DrainOutcome,
  type DrainRecord,
  type DrainRequest,
  type FinishedDrain,
  type Incoming,
} from './model.ts';
import type { DrainedNode, DrainObservation, DrainRules } from './observation.ts';
import { covers, FULL, formatScope, scopeOf, type DrainScope } from './scope.ts';

export type Admission =
  /** Its end is known: it was answered before, or needs no drain. */
  | {
      readonly kind: 'answer';
      readonly record: DrainRecord;
      readonly answer: FinishedDrain;
      /** It ended before, and whoever asks again hears so again. */
      readonly repeated: boolean;
    }
  | {
      readonly kind: 'take';
      readonly record: DrainRecord;
      readonly request: DrainRequest;
      readonly how: 'next' | 'joins' | 'follows';
    };

/** Ended drains are remembered this long, and for as long as the quarantine lists them. */
export const REMEMBERED_FOR = hours(24);
/** The newest ones; a record holds at most 400 KB. */
const MAX_FINISHED = 100;
/** Requests of one node that wait at once: more than its monitors have checks. */
const MAX_REQUESTS = 50;

export function isRemembered({ id, endTime }: FinishedDrain, { quarantine }: DrainedNode, now: EpochMs): boolean {
  return quarantine?.includes(id) === true || !isDue(now, addDuration(endTime, REMEMBERED_FOR));
}

/** Undefined: the request is already under way. */
export function admit(observation: DrainObservation, request: DrainRequest): Admission | undefined {
  const { record, rules } = observation;
  const { active, requests, finished } = record;
  const before = finished.find(({ id }) => id === request.id);
  if (before !== undefined) return { kind: 'answer', record, answer: before, repeated: true };
  if ([...requests, ...(active?.requests ?? [])].some(({ id }) => id === request.id)) return undefined;
  const outcome = immediateOutcome(observation, request);
  if (outcome !== undefined) {
    const answer = toFinished(request, outcome, { now: observation.now, scope: FULL, drained: 0 });
    return { kind: 'answer', record: remember(record, [answer]), answer, repeated: false };
  }
  const wanted = rules && scopeOf(request.event, rules.settings.partialDrain);
  if (active !== undefined && active.end === undefined && wanted !== undefined && wanted.kind !== 'unusable') {
    if (covers(active.scope, wanted)) {
      const force = active.force || isForced(request);
      const joined = { ...active, requests: [...active.requests, request], force };
      return { kind: 'take', record: { ...record, active: joined }, request, how: 'joins' };
    }
  }
  const how = active === undefined && requests.length === 0 ? 'next' : 'follows';
  return { kind: 'take', record: { ...record, requests: [...requests, request] }, request, how };
}

/** The end of a request that no pod is touched for (reference §2.2, E5 to E8). */
function immediateOutcome(
  { node, record, rules }: DrainObservation,
  { event, quarantine }: DrainRequest,
): DrainOutcome | undefined {
  const ends = (status: DrainOutcome['status'], reason: string, message: string): DrainOutcome => ({
    status,
    reason,
    message,
    left: [],
  });
  if (record.requests.length + (record.active?.requests.length ?? 0) >= MAX_REQUESTS) {
    return ends('Failed', 'TooManyRequests', `${MAX_REQUESTS} requests wait for drains of this node already`);
  }
  if (event.isHealthy) return ends('AlreadyDrained', 'Recovered', 'the event reports a recovery');
  if (event.drainOverrides?.skip === true) return ends('AlreadyDrained', 'Skipped', 'drainOverrides.skip is set');
  const scope = rules && scopeOf(event, rules.settings.partialDrain);
  if (scope?.kind === 'unusable') return ends('Failed', 'NoSupportedEntity', scope.message);
  if (quarantine !== 'AlreadyQuarantined') return undefined;
  const listed = node.quarantine;
  if (listed === undefined) return ends('Cancelled', 'StaleEvent', 'the node is not quarantined any more');
  if (scope === undefined) return undefined;
  const earlier = record.finished.find(
    ({ id, status, scope: done }) => status === 'Succeeded' && listed.includes(id) && covers(done, scope),
  );
  if (earlier === undefined) return undefined;
  return ends(
    'AlreadyDrained',
    'Covered',
    `drain ${earlier.id} of this quarantine drained ${formatScope(earlier.scope)}`,
  );
}

/** The next drain, of all requests that wait: wide enough for each of them. */
export function begin(
  { now, record }: DrainObservation,
  { settings }: DrainRules,
): { readonly kind: 'begin'; readonly record: DrainRecord; readonly active: ActiveDrain } | Admission {
  const [first, ...others] = record.requests;
  if (first === undefined) throw new RangeError('no request waits');
  const scopeFor = (request: DrainRequest) => scopeOf(request.event, settings.partialDrain);
  const scope = scopeFor(first);
  const rest = { ...record, requests: others };
  if (scope.kind === 'unusable') {
    // Taken while there was no configuration that says how far events reach.
    const outcome = { status: 'Failed', reason: 'NoSupportedEntity', message: scope.message, left: [] } as const;
    const answer = toFinished(first, outcome, { now, scope: FULL, drained: 0 });
    return { kind: 'answer', record: remember(rest, [answer]), answer, repeated: false };
  }
  const usable = others.map(scopeFor);
  const wide = [scope, ...usable].reduce<DrainScope>(
    (sum, each) => (each.kind === 'unusable' ? sum : union(sum, each)),
    scope,
  );
  const requests = [first, ...others.filter((_, index) => usable[index]?.kind !== 'unusable')];
  const active: ActiveDrain = {
    id: first.id,
    requests,
    scope: wide,
    startTime: now,
    force: requests.some(isForced),
    warned: [],
    drained: 0,
    refusals: 0,
  };
  const waiting = others.filter(request => !requests.includes(request));
  return { kind: 'begin', record: { ...record, requests: waiting, active }, active };
}

const isForced = ({ event }: DrainRequest): boolean => event.drainOverrides?.force === true;

function union(a: DrainScope, b: DrainScope): DrainScope {
  if (a.kind === 'full' || b.kind === 'full') return FULL;
  return { kind: 'entities', entities: [...new Set([...a.entities, ...b.entities])].toSorted() };
}

type Cancelled =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'cancelled';
      readonly record: DrainRecord;
      readonly because: string;
      readonly answers: readonly FinishedDrain[];
      readonly releases: boolean;
    };

/** Which requests a message ends, and what is left. */
export function cancelledBy(
  { now, record, node }: DrainObservation,
  incoming: Exclude<Incoming, { kind: 'drain' }>,
):
  | Extract<Cancelled, { kind: 'cancelled' }>
  | { kind: 'nothing'; record: DrainRecord; because: ''; answers: []; releases: false } {
  const nothing = { kind: 'nothing', record, because: '', answers: [], releases: false } as const;
  const ends = (request: DrainRequest): boolean => isEnded(incoming, request.id, request.event);
  const { active, requests, finished } = record;
  const waiting = requests.filter(ends);
  // One that is being told of already ends as it was decided.
  const running = active === undefined || active.end !== undefined ? [] : active.requests.filter(ends);
  const recovered = finished.filter(
    ({ id, fault, status, recovered: before }) =>
      !before &&
      status !== 'Cancelled' &&
      (incoming.kind === 'unQuarantined' ||
        (incoming.kind === 'recovered' ? isEndedBy(fault, faultOf(incoming.event)) : id === incoming.id)),
  );
  if (waiting.length + running.length + recovered.length === 0) return { ...nothing, answers: [] };
  const outcome: DrainOutcome = { status: 'Cancelled', ...REASONS[incoming.kind], left: [] };
  const isOver = active !== undefined && running.length > 0 && running.length === active.requests.length;
  const leaves = isOver ? waiting : [...waiting, ...running];
  const answers = leaves.map(request => toFinished(request, outcome, { now, scope: FULL, drained: 0 }));
  const still = finished.map(each => (recovered.includes(each) ? { ...each, recovered: true } : each));
  const nextActive =
    active === undefined || isOver
      ? active
      : { ...active, requests: active.requests.filter(each => !running.includes(each)) };
  const next = remember(
    {
      ...record,
      finished: still,
      requests: requests.filter(each => !waiting.includes(each)),
      ...(nextActive !== undefined && {
        active: isOver ? { ...nextActive, end: { ...outcome, time: now } } : nextActive,
      }),
    },
    answers,
  );
  const isIdle = next.active === undefined && next.requests.length === 0;
  const releases = isIdle && node.cordonMark !== undefined && isFree(next);
  return { kind: 'cancelled', record: next, because: outcome.message, answers, releases };
}

/** Whether no drain of the record stands for a fault that is still there. */
export function isFree({ finished }: DrainRecord): boolean {
  return finished.every(({ recovered, status }) => recovered || status === 'Cancelled');
}

const REASONS = {
  recovered: { reason: 'Recovered', message: 'the fault is over' },
  unQuarantined: { reason: 'UnQuarantined', message: 'the quarantine is over' },
  cancelled: { reason: 'ManuallyReleased', message: 'somebody took the quarantine of the node back' },
} as const;

function isEnded(incoming: Exclude<Incoming, { kind: 'drain' }>, id: string, event: DrainRequest['event']): boolean {
  switch (incoming.kind) {
    case 'unQuarantined':
      return true;
    case 'cancelled':
      return id === incoming.id;
    case 'recovered':
      return isEndedBy(faultOf(event), faultOf(incoming.event));
  }
}

export function toFinished(
  { id, event }: DrainRequest,
  { status, reason, message, left }: DrainOutcome,
  { now, scope, drained, startTime = now }: { now: EpochMs; scope: DrainScope; drained: number; startTime?: EpochMs },
): FinishedDrain {
  const fault = faultOf(event);
  return { id, status, reason, message, left, scope, drained, startTime, endTime: now, fault, recovered: false };
}

/** The record with these ends; the oldest ones are forgotten first. */
export function remember(record: DrainRecord, ended: readonly FinishedDrain[]): DrainRecord {
  if (ended.length === 0) return record;
  return { ...record, finished: [...record.finished, ...ended].slice(-MAX_FINISHED) };
}
