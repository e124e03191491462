/** What is remembered of the drains of one node. */
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import { parseJsonObject } from '../../shared/domain/json.ts';
import { toDurationMs } from '../../shared/domain/time.ts';
import type { RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import { refusalsSchema } from '../../shared/lifecycle/refusals.ts';
import { heldEvictionsSchema } from '../../shared/pods/drain-pods.ts';
import type { AnsweredRequest, DrainRecord } from './model.ts';
import { toFittingJson } from './record-size.ts';

const duration = z.pipe(
  z.number(),
  z.transform((ms: number) => toDurationMs(ms)),
);
const orUndefined = <Schema extends z.ZodMiniType>(schema: Schema) =>
  z.pipe(
    z.nullable(schema),
    z.transform((value: z.output<Schema> | null) => value ?? undefined),
  );

const overrides = z.object({ force: z.boolean(), skip: z.boolean() });
const event = z.object({
  id: z.string(),
  nodeName: z.string(),
  version: z.number(),
  agent: z.string(),
  componentClass: z.string(),
  checkName: z.string(),
  isFatal: z.boolean(),
  isHealthy: z.boolean(),
  message: z.string(),
  recommendedAction: z.number(),
  recommendedActionName: z.exactOptional(z.string()),
  customRecommendedAction: z.string(),
  errorCode: z.array(z.string()),
  entitiesImpacted: z.array(z.object({ entityType: z.string(), entityValue: z.string() })),
  metadata: z.record(z.string(), z.string()),
  generatedTimestamp: orUndefined(z.object({ seconds: z.number(), nanos: z.number() })),
  quarantineOverrides: orUndefined(overrides),
  drainOverrides: orUndefined(overrides),
  processingStrategy: z.number(),
});
const said = z.object({
  generatedTime: z.exactOptional(instant),
  createdTime: z.exactOptional(instant),
  exportedTime: z.exactOptional(instant),
  sentTime: z.exactOptional(instant),
});
const request = z.object({
  id: z.string(),
  requestedBy: z.string(),
  event,
  quarantine: orUndefined(z.string()),
  time: z.exactOptional(instant),
  said: z.exactOptional(said),
});
const scope = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('full') }),
  z.object({ kind: z.literal('entities'), entities: z.array(z.string()) }),
]);
const outcome = {
  status: z.enum(['Succeeded', 'Failed', 'Cancelled', 'AlreadyDrained']),
  reason: z.string(),
  message: z.string(),
  left: z.array(z.string()),
};
const active = z.object({
  id: z.string(),
  requests: z.array(request),
  scope,
  startTime: instant,
  force: z.boolean(),
  hold: z.exactOptional(z.object({ quarantined: z.boolean(), cordon: z.enum(['own', 'other', 'none']) })),
  nodeVersion: z.exactOptional(z.string()),
  warned: z.array(z.string()),
  deleteTime: z.exactOptional(instant),
  tried: z.exactOptional(z.array(z.string())),
  gone: z.exactOptional(z.number()),
  drained: z.number(),
  refusals: z.number(),
  heldEvictions: z.exactOptional(heldEvictionsSchema),
  reported: z.exactOptional(z.string()),
  custom: z.exactOptional(
    z.object({
      name: z.string(),
      namespace: z.string(),
      group: z.string(),
      version: z.string(),
      kind: z.string(),
      resource: z.string(),
      uid: z.exactOptional(z.string()),
      createdTime: instant,
      recreated: z.number(),
      seen: z.exactOptional(z.object({ resourceVersion: z.string(), since: instant })),
    }),
  ),
  queue: z.exactOptional(z.object({ since: instant, takes: z.boolean() })),
  pausedFor: z.exactOptional(duration),
  progress: z.exactOptional(z.object({ pods: z.number(), time: instant, saidTime: z.exactOptional(instant) })),
  returns: z.exactOptional(z.array(z.object({ of: z.string(), times: z.number(), time: instant }))),
  fellBack: z.exactOptional(z.string()),
  end: z.exactOptional(z.object({ ...outcome, time: instant })),
  over: z.exactOptional(z.array(z.string())),
});
const fault = z.object({
  agent: z.string(),
  componentClass: z.string(),
  checkName: z.string(),
  entities: z.array(z.string()),
  codes: z.exactOptional(z.array(z.string())),
});
const status = outcome.status;
const finished = z.object({
  ...outcome,
  id: z.string(),
  scope,
  drained: z.number(),
  startTime: instant,
  endTime: instant,
  fault,
  recovered: z.boolean(),
  said: z.exactOptional(said),
});
/** Short, for there are thousands: id, status, end. */
const answered = z.pipe(
  z.tuple([z.string(), status, instant]),
  z.transform(([id, ended, endTime]): AnsweredRequest => ({ id, status: ended, endTime })),
);
/** Before version 4 it had one time alone. */
const quarantineEnd = z.union([
  z.object({ said, time: instant }),
  z.pipe(
    z.object({ saidTime: instant, time: instant }),
    z.transform(({ saidTime, time }) => ({ said: { createdTime: saidTime, sentTime: saidTime }, time })),
  ),
]);
const schema = z.object({
  active: z.exactOptional(active),
  requests: z.array(request),
  finished: z.array(finished),
  answered: z.exactOptional(z.array(answered)),
  reported: z.exactOptional(z.string()),
  heldSince: z.exactOptional(instant),
  quarantineEnd: z.exactOptional(quarantineEnd),
  recoveries: z.exactOptional(z.array(z.object({ fault, said, time: instant }))),
  staleSaid: z.exactOptional(instant),
  refusals: z.exactOptional(refusalsSchema),
});

/** Of the drains of the node with this UID. */
export const recordIdOf = (nodeUid: string): string => `node/${nodeUid}`;

export const DRAIN_CODEC: RecordCodec<DrainRecord> = {
  owner: 'drain',
  schemaVersion: 4,
  // Version 1 knew nothing of the end of a quarantine, version 2 nothing of drains that wait for their turn, version 3 nothing of error codes, and
  // of ends the last hundred alone.
  parse: state => schema.parse(state),
  toState: value => parseJsonObject(toFittingJson(value)),
};
