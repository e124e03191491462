/** How the record of one pool is written down; checked before each write and after each read. */
import type { Subject } from '../../../shared/contract/subject.ts';
import { KARPENTER } from '../../../shared/contract/names.ts';
import * as z from '../../../shared/contract/zod.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import type { RecordCodec } from '../../../shared/lifecycle/timed-record.ts';
import { incidentSchema, instant, OWNER } from '../record.ts';
import type { PoolState } from './pool.ts';

const named = z.object({ name: z.string(), uid: z.string() });

const resource = z.object({
  group: z.string(),
  version: z.string(),
  resource: z.string(),
  namespace: z.exactOptional(z.string()),
  name: z.string(),
  uid: z.string(),
});

const attempt = z.object({
  number: z.int().check(z.positive()),
  phase: z.enum(['intended', 'refused', 'accepted', 'observed']),
  intendedTime: instant,
  node: named,
  claim: z.exactOptional(named),
  incident: incidentSchema,
  rung: z.int().check(z.minimum(0)),
  action: z.enum(['Reboot', 'Drain', 'CustomResource', 'Terminate']),
  escalates: z.exactOptional(z.literal(true)),
  until: z.exactOptional(instant),
  retryTime: z.exactOptional(instant),
  answer: z.exactOptional(z.object({ kind: z.enum(['succeeded', 'failed', 'stopped']), message: z.string() })),
  wellTime: z.exactOptional(instant),
  terminationTimestamp: z.exactOptional(z.string()),
  previousTimestamp: z.exactOptional(z.string()),
  bootID: z.exactOptional(z.string()),
  requestId: z.exactOptional(z.string()),
  resources: z.exactOptional(z.array(resource)),
});

const schema = z.object({
  passTime: instant,
  attempts: z.array(attempt),
  outages: z.array(z.string()),
  ramp: z.exactOptional(z.object({ step: z.int(), stepTime: instant, granted: z.int() })),
  repairs: z.array(z.object({ condition: z.string(), time: instant })),
  said: z.object({ againTime: instant, nodes: z.record(z.string(), z.string()) }),
});

export const poolCodec: RecordCodec<PoolState> = {
  owner: OWNER,
  schemaVersion: 2,
  // Version 1 had terminations alone.
  parse: state => schema.parse(state),
  toState: ({ passTime, attempts, outages, ramp, repairs, said }) => {
    const state = {
      passTime,
      attempts: attempts.map(one => Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined))),
      outages: [...outages],
      ...(ramp && { ramp: { ...ramp } }),
      repairs: repairs.map(repair => ({ ...repair })),
      said: { againTime: said.againTime, nodes: { ...said.nodes } },
    };
    schema.parse(state);
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

export const poolRecordId = (pool: string | undefined): string => (pool === undefined ? 'cluster' : `pool/${pool}`);

/** What a wake-up for a pass is about. */
export const poolSubject = (pool: string | undefined): Subject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  name: pool ?? NO_POOL,
});

export const poolOfSubject = ({ name }: Pick<Subject, 'name'>): string | undefined =>
  name === NO_POOL ? undefined : name;
