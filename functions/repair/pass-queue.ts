/**
 * Runs passes, and keeps what each is asked for. A pool has one pass at a time; requests that come meanwhile share the
 * next one (`shared/lifecycle/coalesce.ts`), which keeps them while they wait.
 */
import type { PassDeps } from './context.ts';
import { OWNER } from './common/context.ts';
import { POOL_CODEC, poolRecordId } from './record.ts';
import { NEW_POOL, type PoolRecord } from './pool-record.ts';
import { answer } from './node/attempt-record.ts';
import type { SeenChange } from './node/rule/node-facts.ts';
import { mergeRequests, type PassRequest, type PassRequests } from './rule/pass-requests.ts';
import type { PoolDecision } from './rule/pool-decision.ts';
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import { readJson } from '../../shared/domain/json.ts';
import { type DurationMs, minutes, seconds, toDurationMs } from '../../shared/domain/time.ts';
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { createReportNotServed, NOT_SERVED_CHECK, notServedText } from '../../shared/cluster/not-served.ts';
import { KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import { definitionNameOf } from '../../shared/custom-resource/not-served.ts';
import type { ResourceType } from '../../shared/domain/kubernetes-object.ts';
import { createCoalescer, ROUND_KIND, type RoundAnswer } from '../../shared/lifecycle/coalesce.ts';
import type { RoundRequest } from '../../shared/lifecycle/next-round.ts';
import { isTimerOf, openRecord, type UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { kindRoute, type WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { KindNotServed } from '../../shared/ports/read-answer.ts';

/** Name that stands for the nodes without a NodePool. No NodePool can have it. */
const NO_POOL = KARPENTER.nodePoolLabel;

/** The subject of a wake-up for a pass: the pool. */
export const poolSubject = (name: string | undefined): Subject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  name: name ?? NO_POOL,
});

/** The pool that a wake-up for a pass is about. */
const poolOfSubject = ({ name }: Pick<Subject, 'name'>): string | undefined => (name === NO_POOL ? undefined : name);

export interface Passes {
  /** Ensures that a pass of the pool begins from now on. */
  request(pool: string | undefined, request: PassRequest): Promise<void>;
  /** Timers of the coalescers, which come when a pass waits for its turn or has died, and of the pools' records. */
  readonly timers: readonly WakeUpRoute[];
}

const PREFIX = 'pass/';

/** The shortest time between two passes of one pool. */
export const PASS_SPACING = seconds(1);

/** Two passes are at least three times as far apart as the last one took. */
const SPACING_BY_DURATION = 3;
/** Two passes are at least a minute apart while a cluster freeze or a zone outage blocks repairs. */
const OUTAGE_SPACING = minutes(1);

/** The time until the next pass. @param decision undefined: there was nothing to decide */
export const spacingAfter = (took: DurationMs, decision?: Pick<PoolDecision, 'isOutage'>): DurationMs =>
  toDurationMs(Math.max(PASS_SPACING, took * SPACING_BY_DURATION, decision?.isOutage === true ? OUTAGE_SPACING : 0));

/** The object that carries Events about a pool. @param type its definition has those of the nodes without a NodePool */
export const eventSubjectOf = (
  pool: string | undefined,
  type: ResourceType = RESOURCES.NodeLifecyclePolicy,
): Subject =>
  pool === undefined
    ? { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: definitionNameOf(type) }
    : poolSubject(pool);

/** Whether a pass of the pool would act: repair is on, or something that was begun has to end. */
export async function wouldPassAct(deps: Omit<PassDeps, 'requestPass'>, pool: string | undefined): Promise<boolean> {
  const { featureGates } = await loadConfig(OWNER, deps);
  return featureGates.nodeRepair || (await isBusy(deps, pool));
}

/** Creates the passes of all pools. @param run one pass; answers how long the next one waits */
export function createPasses(
  deps: Omit<PassDeps, 'requestPass'>,
  run: (deps: PassDeps, pool: string | undefined, requests: readonly RoundRequest[]) => Promise<RoundAnswer>,
): Passes {
  const reportNotServed = createReportNotServed(deps);
  /**
   * Runs a pass. If a kind that it needs is not served, the same requests run again in a minute: their messages are already
   * acknowledged.
   */
  const passOrWait = async (pool: string | undefined, requests: readonly RoundRequest[]): Promise<RoundAnswer> => {
    try {
      return await run({ ...deps, requestPass }, pool, requests);
    } catch (error) {
      if (!(error instanceof KindNotServed)) throw error;
      if (await wouldPassAct(deps, pool)) await reportNotServed(eventSubjectOf(pool, error.type), notServedText(error));
      return { retryAfter: NOT_SERVED_CHECK };
    }
  };
  const coalescerOf = (pool: string | undefined) =>
    createCoalescer(deps, {
      owner: OWNER,
      name: `${PREFIX}${poolSubject(pool).name}`,
      spacing: PASS_SPACING,
      run: requests => passOrWait(pool, requests),
    });
  const requestPass = async (pool: string | undefined, passRequest: PassRequest): Promise<void> => {
    await coalescerOf(pool).request(toRoundRequest(passRequest));
  };
  const poolTimerDue = async (pool: string | undefined, wakeUp: UsedWakeUp): Promise<void> => {
    const loaded = await openRecord(deps, POOL_CODEC, poolRecordId(pool)).load();
    if (isTimerOf(loaded, wakeUp, deps.clock.now())) await requestPass(pool, FOR_POOL);
  };
  return {
    request: requestPass,
    timers: [
      {
        takes: ({ kind, name }) => kind === ROUND_KIND && name.startsWith(PREFIX),
        timerDue: wakeUp =>
          coalescerOf(poolOfSubject({ name: wakeUp.subject.name.slice(PREFIX.length) })).timerDue(wakeUp),
      },
      kindRoute('NodePool', wakeUp => poolTimerDue(poolOfSubject(wakeUp.subject), wakeUp)),
    ],
  };
}

type RecordDeps = Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>;

/** Counts of the repairs of a pool; undefined: a newer version keeps its record, and counts them. */
export async function repairCountsOf(
  deps: RecordDeps,
  pool: string | undefined,
): Promise<PoolRecord['counts'] | undefined> {
  const loaded = await openRecord(deps, POOL_CODEC, poolRecordId(pool)).load();
  switch (loaded.kind) {
    case 'known':
      return loaded.value.counts;
    case 'none':
      return NEW_POOL.counts;
    case 'newer':
      return undefined;
  }
}

/** Whether something of the pool is blocked, in flight or followed. */
export async function isBusy(deps: RecordDeps, pool: string | undefined): Promise<boolean> {
  const loaded = await openRecord(deps, POOL_CODEC, poolRecordId(pool)).load();
  if (loaded.kind !== 'known') return false;
  const { counts, inFlight, followed } = loaded.value;
  return counts.blocked > 0 || Object.keys(inFlight).length > 0 || followed.length > 0;
}

export const FOR_POOL: PassRequest = { kind: 'pool' };

export const FOR_SETTINGS: PassRequest = { kind: 'settings' };

export const forNode = (uid: string, seen?: SeenChange): PassRequest => ({ kind: 'node', uid, seen });

const POOL_TARGET = 'due';

const SETTINGS_TARGET = 'settings';

/** The request as the coalescer keeps it. */
export function toRoundRequest(request: PassRequest): RoundRequest {
  switch (request.kind) {
    case 'pool':
      return { kind: 'target', name: POOL_TARGET };
    case 'settings':
      return { kind: 'target', name: SETTINGS_TARGET };
    case 'node': {
      const { uid, seen } = request;
      if (seen === undefined) return { kind: 'target', name: uid };
      const { time, statusChanged } = seen;
      return { kind: 'target', name: `${uid}@${time}${statusChanged === undefined ? '' : `@${statusChanged}`}` };
    }
    case 'drainEnd':
      return { kind: 'message', text: JSON.stringify({ uid: request.uid, ...request.end }) };
  }
}

const drainEnd = z.object({ uid: z.string(), requestId: z.string(), answer });

/** Meaning of what a kept request says of the statuses of its node. */
const STATUS_CHANGED: Readonly<Record<string, boolean>> = { true: true, false: false };

/** The request that a coalescer has kept. Another version may have written it. */
function parsePassRequest(request: RoundRequest): PassRequest {
  switch (request.kind) {
    case 'all':
      return FOR_SETTINGS;
    case 'target': {
      if (request.name === POOL_TARGET) return FOR_POOL;
      if (request.name === SETTINGS_TARGET) return FOR_SETTINGS;
      const [uid = '', text, status] = request.name.split('@');
      if (text === undefined) return forNode(uid);
      const { data: time } = instant.safeParse(Number(text));
      // Another version wrote it: it may be about any node.
      return time === undefined ? FOR_SETTINGS : forNode(uid, { time, statusChanged: STATUS_CHANGED[status ?? ''] });
    }
    case 'message': {
      const { data } = drainEnd.safeParse(readJson(request.text));
      if (data === undefined) return FOR_SETTINGS;
      const { uid, ...end } = data;
      return { kind: 'drainEnd', uid, end };
    }
  }
}

/** Reads what the kept requests ask together. */
export const readRequests = (requests: readonly RoundRequest[]): PassRequests =>
  mergeRequests(requests.map(parsePassRequest));
