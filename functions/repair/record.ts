/** How the records of nodes and pools are written down; checked before each write and after each read. */
import { KARPENTER } from '../../shared/contract/names.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import type { RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import type { Episode, RepairIncident } from './incident.ts';
import type { PoolState, RepairAttempt } from './pass/pool.ts';

export const OWNER = 'repair';

/** What repair promised about one node. Attempts at its repair are in the record of its pool. */
export interface NodeRecord {
  /** The open incident; absent while the node is well, and only its past is remembered. */
  readonly incident?: RepairIncident | undefined;
  /** The pool by the last look at its NodeClaim; absent: none. */
  readonly pool?: string | undefined;
  /** Its NodeClaim by the last look: a hint where to look first. */
  readonly claim?: string | undefined;
  /** The incident is due, and the pool's record has the timer that counts. */
  readonly taken: boolean;
  /** Why the node cannot be judged, as it was said. */
  readonly fault?: string | undefined;
  /** Unhealthy times, for `flapping`. */
  readonly episodes: readonly Episode[];
}

const incidentSchema = z.object({
  conditionType: z.string(),
  conditionStatus: z.string(),
  lastTransitionTime: instant,
  dueTime: instant,
});

const episodeSchema = z.object({
  startTime: instant,
  endTime: z.exactOptional(instant),
  began: z.exactOptional(z.array(z.object({ type: z.string(), status: z.string() }))),
});

const nodeSchema = z.object({
  incident: z.exactOptional(incidentSchema),
  pool: z.exactOptional(z.string()),
  claim: z.exactOptional(z.string()),
  taken: z._default(z.boolean(), false),
  fault: z.exactOptional(z.string()),
  episodes: z._default(z.array(episodeSchema), []),
});

export const nodeCodec: RecordCodec<NodeRecord> = {
  owner: OWNER,
  schemaVersion: 2,
  // Version 1 kept the attempt, which is in the pool's record now, beside the incident.
  parse: state => nodeSchema.parse(state),
  toState: ({ incident, pool, claim, taken, fault, episodes }) => {
    const state = {
      ...(incident && { incident: { ...incident } }),
      ...(pool !== undefined && { pool }),
      ...(claim !== undefined && { claim }),
      taken,
      ...(fault !== undefined && { fault }),
      episodes: episodes.map(({ startTime, endTime, began }) => ({
        startTime,
        ...(endTime !== undefined && { endTime }),
        ...(began && { began: began.map(each => ({ ...each })) }),
      })),
    };
    nodeSchema.parse(state);
    return state;
  },
};

/** The record of one node, by UID (I10). */
export const nodeRecordId = (uid: string): string => `node/${uid}`;

const named = z.object({ name: z.string(), uid: z.string() });

const resourceName = z.madeOnce(() =>
  z.object({
    group: z.string(),
    version: z.string(),
    resource: z.string(),
    namespace: z.exactOptional(z.string()),
    name: z.string(),
  }),
);
const resource = z.madeOnce(() => z.extend(resourceName(), { uid: z.string() }));

const rungType = z.enum(['Reboot', 'Drain', 'CustomResource', 'Terminate']);
const attempt = z.madeOnce(() =>
  z.object({
    number: z.int().check(z.positive()),
    phase: z.enum(['intended', 'refused', 'accepted', 'observed']),
    intendedTime: instant,
    node: named,
    claim: z.exactOptional(named),
    incident: incidentSchema,
    rung: z.int().check(z.minimum(0)),
    action: rungType,
    escalates: z.exactOptional(z.literal(true)),
    carriedOut: z.exactOptional(z.object({ rung: z.int().check(z.minimum(0)), action: rungType })),
    until: z.exactOptional(instant),
    retryTime: z.exactOptional(instant),
    answer: z.exactOptional(z.object({ kind: z.enum(['succeeded', 'failed', 'stopped']), message: z.string() })),
    notTaken: z.exactOptional(z.literal(true)),
    wellTime: z.exactOptional(instant),
    terminationTimestamp: z.exactOptional(z.string()),
    previousTimestamp: z.exactOptional(z.string()),
    bootID: z.exactOptional(z.string()),
    requestId: z.exactOptional(z.string()),
    resources: z.exactOptional(z.array(resource())),
    mayHaveMade: z.exactOptional(z.array(resourceName())),
  }),
);

const poolSchema = z.madeOnce(() =>
  z.object({
    passTime: instant,
    underWay: z.exactOptional(z.literal(true)),
    wanted: z.exactOptional(z.literal(true)),
    changed: z.exactOptional(z.literal(true)),
    calm: z.exactOptional(z.literal(true)),
    attempts: z.array(attempt()),
    outages: z.array(z.string()),
    ramp: z.exactOptional(z.object({ step: z.int(), stepTime: instant, granted: z.int() })),
    repairs: z.array(z.object({ condition: z.string(), time: instant })),
    left: z.exactOptional(z.array(z.object({ attempt: attempt(), message: z.string(), retryTime: instant }))),
    said: z.object({ againTime: instant, nodes: z.record(z.string(), z.string()) }),
  }),
);

const toStored = (one: RepairAttempt) =>
  Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined));

export const poolCodec: RecordCodec<PoolState> = {
  owner: OWNER,
  schemaVersion: 4,
  // Version 1 had terminations alone, 2 no resources that may have been made, 3 nothing of what came before an observed action.
  // A run that does not know `changed`, `calm`, `left` and `notTaken` drops them; without the first two it looks at once.
  parse: state => poolSchema().parse(state),
  toState: ({ passTime, underWay, wanted, changed, calm, attempts, outages, ramp, repairs, left, said }) => {
    const state = {
      passTime,
      ...(underWay && { underWay }),
      ...(wanted && { wanted }),
      ...(changed && { changed }),
      ...(calm && { calm }),
      attempts: attempts.map(toStored),
      outages: [...outages],
      ...(ramp && { ramp: { ...ramp } }),
      repairs: repairs.map(repair => ({ ...repair })),
      ...(left && { left: left.map(each => ({ ...each, attempt: toStored(each.attempt) })) }),
      said: { againTime: said.againTime, nodes: { ...said.nodes } },
    };
    poolSchema().parse(state);
    return state;
  },
};

export const NEW_POOL: PoolState = {
  passTime: toEpochMs(0),
  attempts: [],
  outages: [],
  repairs: [],
  said: { againTime: toEpochMs(0), nodes: {} },
};

/** A name that no NodePool can have, for the nodes without one. */
const NO_POOL = KARPENTER.nodePoolLabel;

/** The record of one pool. undefined: of the nodes without a NodePool. */
export const poolRecordId = (pool: string | undefined): string => (pool === undefined ? 'cluster' : `pool/${pool}`);

/** What a wake-up for a pass is about. */
export const poolSubject = (pool: string | undefined): Subject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  name: pool ?? NO_POOL,
});

/** The pool that a wake-up for a pass is about. */
export const poolOfSubject = ({ name }: Pick<Subject, 'name'>): string | undefined =>
  name === NO_POOL ? undefined : name;
