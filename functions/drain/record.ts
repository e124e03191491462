/**
 * Record of the drains of one node: the requests that wait, the drain under way, and how earlier ones ended. Version 2 knew nothing of drains
 * that wait in the queue. The drain under way is a union by phase; it is stored as older versions read it, with a field for each phase.
 */
import { instant, milliseconds } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import { storedName } from '../../shared/custom-resource/stored-name.ts';
import { parseJsonObject } from '../../shared/domain/json.ts';
import { toDurationMs, type EpochMs } from '../../shared/domain/time.ts';
import { checkedCodec, type RecordCodec, storedUnder } from '../../shared/lifecycle/record-codec.ts';
import { refusalsSchema } from '../../shared/lifecycle/refusals.ts';
import { type AskedEvictions, askedEvictionsSchema } from '../../shared/pods/drain-pods.ts';
import { fittingJson, toStoredAnswer } from './rule/record-size.ts';
import {
  answeredSchema,
  finishedSchema,
  deferredRecoverySchema,
  outcomeSchema,
  quarantineEndSchema,
  recoverySchema,
  requestSchema,
  scopeSchema,
  type DrainOutcome,
} from './request-record.ts';

const storedCordon = z.object({ quarantined: z.boolean(), cordon: z.enum(['own', 'other', 'none']) });

/** The cordon that keeps new pods away while a drain is under way; when that is taken back, the drain is cancelled. */
export interface Cordon {
  /** The node carried NVSentinel's quarantine annotation. */
  readonly quarantined: boolean;
  readonly by: 'own' | 'other' | 'none';
}

const custom = z.extend(storedName, {
  namespace: z.string(),
  kind: z.string(),
  /** UID of the custom resource; undefined until it was created or adopted. */
  uid: z.exactOptional(z.string()),
  /** Time from which its time-out counts: that of its creation, moved on by each pause of the drain. */
  createdTime: instant,
  /** Times that it was created again because somebody had removed it. */
  recreated: z.number(),
  /** Its resourceVersion when it was last seen, and since when it has had it. */
  seen: z.exactOptional(z.object({ resourceVersion: z.string(), since: instant })),
});
/** The custom resource of a drain, and how it stands. */
export type CustomProgress = Readonly<z.output<typeof custom>>;

const comeBack = z.object({
  /** UID of the controller, else `namespace/name`. */
  of: z.string(),
  times: z.number(),
  /** Time when they were evicted last. */
  time: instant,
});
/** Number of times that the pods of one controller, or of one name, came back and were evicted for it. */
export type PodReturn = Readonly<z.output<typeof comeBack>>;

/** The drain under way as it is stored: fields that are empty or 0 are absent, and of the last six those of its phase are there. */
const storedActive = z.object({
  id: z.string(),
  /** Requests that this drain answers. */
  requests: z.list(requestSchema),
  scope: scopeSchema,
  startTime: instant,
  force: z.boolean(),
  hold: z.exactOptional(storedCordon),
  /** The Node's resourceVersion when the drain prepared it: an event of this version says nothing new. */
  nodeVersion: z.exactOptional(z.string()),
  /** UIDs of pods that are still there, and whose owners were warned of the deletion. */
  warned: z.list(z.string()),
  /** Time at which pods are deleted. If it comes nearer, owners are warned again. Absent until the first plan of pods, and in older records. */
  deleteTime: z.exactOptional(instant),
  /** UIDs of pods that it has set out to evict or delete, and that are still there. Noted before the act: no run that is overtaken goes uncounted. */
  tried: z.exactOptional(z.list(z.string())),
  /** The stored name of `goneCount`. */
  gone: z.exactOptional(z.number()),
  /** Number of pods that are gone, or about to go. */
  drained: z.number(),
  /** The stored name of `failedLooks`. */
  refusals: z.number(),
  /** Evictions that are not asked for again for a moment, by UID of the pod. */
  heldEvictions: z.exactOptional(z.readonly(askedEvictionsSchema)),
  /** The text that was reported last. */
  reported: z.exactOptional(z.string()),
  /** Time for which it was paused since it began, or since it waits: the deadline stood still. */
  pausedFor: z.exactOptional(milliseconds),
  /** The fewest pods that were left, and since when; `saidTime`: the last report that nothing moves. Absent until pods were planned for. */
  progress: z.exactOptional(z.object({ pods: z.number(), time: instant, saidTime: z.exactOptional(instant) })),
  /** Pods that came back onto the node. */
  returns: z.exactOptional(z.list(comeBack)),
  queue: z.exactOptional(z.object({ since: instant, takes: z.boolean() })),
  custom: z.exactOptional(custom),
  fellBack: z.exactOptional(z.string()),
  end: z.exactOptional(z.extend(outcomeSchema, { time: instant })),
  over: z.exactOptional(z.list(z.string())),
  isAnswered: z.exactOptional(z.literal(true)),
});
type StoredActive = Readonly<z.output<typeof storedActive>>;

/** The phase of a drain whose end is not decided. */
export type OpenPhase =
  /** It waits until fewer nodes of its pool are drained. `takesSlot`: its Node is marked as taking one of their slots. */
  | { readonly kind: 'waiting'; readonly since: EpochMs; readonly takesSlot: boolean }
  /** Pods go by their modes, or a custom resource is about to be made. */
  | { readonly kind: 'draining' }
  /** The controller of a custom resource empties the node. */
  | { readonly kind: 'custom'; readonly resource: CustomProgress }
  /** The custom drain was given up: pods go by the fallback mode. */
  | { readonly kind: 'fallback'; readonly because: string };

/** The end is decided, and about to be reported. */
export interface EndingPhase {
  readonly kind: 'ending';
  readonly outcome: DrainOutcome & { readonly time: EpochMs };
  /** Ids of requests whose cause was reported as over after the end was decided. */
  readonly over: readonly string[];
  /** All who asked have been answered, while a change that belongs to the end is refused. */
  readonly isAnswered?: true;
  /** The phase before the end was decided. */
  readonly before: OpenPhase;
}

export type DrainPhase = OpenPhase | EndingPhase;

type OfPhase = 'queue' | 'custom' | 'fellBack' | 'end' | 'over' | 'isAnswered';
/** Fields that the store has under another name, or in another shape. */
type StoredOtherwise = 'gone' | 'hold' | 'heldEvictions' | 'refusals';
const EMPTY = { tried: [], reported: '', pausedFor: toDurationMs(0), returns: [] } as const;
type MayBeEmpty = keyof typeof EMPTY;

/** The drain under way. */
export interface ActiveDrain
  extends
    Omit<StoredActive, OfPhase | MayBeEmpty | StoredOtherwise>,
    Readonly<Required<Pick<StoredActive, MayBeEmpty>>> {
  readonly phase: DrainPhase;
  /** Number of pods that it had set out to evict or delete, and that are not there any more. */
  readonly goneCount: number;
  /** Looks in a row at which an eviction was not granted, or a pod had changed. */
  readonly failedLooks: number;
  /** The cordon of the node; absent until the Node was prepared. */
  readonly cordon?: Cordon;
  readonly askedEvictions: AskedEvictions;
}

const active = z.pipe(
  storedActive,
  z.transform((stored: StoredActive): ActiveDrain => {
    const { queue, custom: resource, fellBack, hold, heldEvictions = {}, gone = 0, refusals, ...others } = stored;
    const { end, over = [], isAnswered, ...fields } = others;
    const before = phaseStored({ queue, resource, fellBack });
    const answered = isAnswered && { isAnswered };
    const phase = end === undefined ? before : ({ kind: 'ending', outcome: end, over, before, ...answered } as const);
    const cordon = hold && { quarantined: hold.quarantined, by: hold.cordon };
    const counts = { goneCount: gone, failedLooks: refusals };
    return { ...EMPTY, ...fields, ...counts, ...(cordon && { cordon }), askedEvictions: heldEvictions, phase };
  }),
);

interface StoredPhase {
  readonly queue: StoredActive['queue'] | undefined;
  readonly resource: CustomProgress | undefined;
  readonly fellBack: string | undefined;
}

/** The phase by the stored fields. A custom resource comes first: it must not be forgotten. */
function phaseStored({ queue, resource, fellBack }: StoredPhase): OpenPhase {
  if (resource !== undefined) return { kind: 'custom', resource };
  if (fellBack !== undefined) return { kind: 'fallback', because: fellBack };
  return queue === undefined ? { kind: 'draining' } : { kind: 'waiting', since: queue.since, takesSlot: queue.takes };
}

function toStoredActive(value: ActiveDrain): StoredActive {
  const { phase, tried, goneCount, failedLooks, cordon, askedEvictions, reported, pausedFor, returns, ...fields } =
    value;
  return {
    ...fields,
    refusals: failedLooks,
    ...(cordon && { hold: { quarantined: cordon.quarantined, cordon: cordon.by } }),
    ...(tried.length > 0 && { tried }),
    ...(goneCount !== 0 && { gone: goneCount }),
    ...(Object.keys(askedEvictions).length > 0 && { heldEvictions: askedEvictions }),
    ...(reported !== '' && { reported }),
    ...(pausedFor !== 0 && { pausedFor }),
    ...(returns.length > 0 && { returns }),
    ...toStoredPhase(phase),
  };
}

function toStoredPhase(phase: DrainPhase): Pick<StoredActive, OfPhase> {
  switch (phase.kind) {
    case 'waiting':
      return { queue: { since: phase.since, takes: phase.takesSlot } };
    case 'draining':
      return {};
    case 'custom':
      return { custom: phase.resource };
    case 'fallback':
      return { fellBack: phase.because };
    case 'ending': {
      const { outcome: end, over, isAnswered, before: openPhase } = phase;
      return {
        ...toStoredPhase(openPhase),
        end,
        ...(over.length > 0 && { over }),
        ...(isAnswered && { isAnswered }),
      };
    }
  }
}

const schema = z.object({
  active: z.exactOptional(active),
  /** Requests that wait for the active drain to end, or for a configuration. */
  requests: z.list(requestSchema),
  /** Ends of requests, newest last. */
  finished: z.list(finishedSchema),
  /** Requests that ended before the ones in `finished`, newest last. Absent in older records. */
  answered: z.exactOptional(z.list(answeredSchema)),
  /** The last report about a drain that is paused. */
  reported: z.exactOptional(z.string()),
  /** Time since which drains are paused: their time-outs stand still. */
  pausedSince: z.exactOptional(instant),
  quarantineEnd: z.exactOptional(quarantineEndSchema),
  recoveries: z.exactOptional(z.list(recoverySchema)),
  deferredRecoveries: z.exactOptional(z.list(deferredRecoverySchema)),
  /** Time of the last Warning on the Node that a recovery has to last first. */
  flappingReportedTime: z.exactOptional(instant),
  /** Time of the last Warning on the Node that an event is too old. */
  staleReportedTime: z.exactOptional(instant),
  /** The mark of our cordon on a Node that somebody has uncordoned since: any cordon beside it is not ours. Absent once the mark is off. */
  uncordonedMark: z.exactOptional(z.string()),
  /** Custom resources of ended drains, by the id of the drain, whose deletion is refused: they are deleted later. */
  leftResources: z.exactOptional(z.list(z.object({ id: z.string(), resource: custom }))),
  /** Refused changes of Node, custom resource and pods. */
  refusals: z.exactOptional(refusalsSchema),
});
/** The record of all drains of a node. */
export type DrainRecord = Readonly<z.output<typeof schema>>;

export const NO_DRAINS: DrainRecord = { requests: [], finished: [] };

/** The id of the record of the node with this UID. */
export const recordIdOf = (nodeUid: string): string => `node/${nodeUid}`;

/** The owner of the record, its timer and rounds. */
export const OWNER = 'drain';

const checked = checkedCodec<DrainRecord>(OWNER, schema, 4);

/** Codec of the record: it is checked by the schema, and cut to what fits into an item. */
export const DRAIN_CODEC: RecordCodec<DrainRecord> = storedUnder(
  {
    pausedSince: 'heldSince',
    deferredRecoveries: 'heldRecoveries',
    flappingReportedTime: 'flappingSaid',
    staleReportedTime: 'staleSaid',
  },
  {
    ...checked,
    toState: ({ active: drain, answered, ...rest }) => {
      const stored = {
        ...rest,
        ...(drain !== undefined && { active: toStoredActive(drain) }),
        ...(answered !== undefined && { answered: answered.map(toStoredAnswer) }),
      };
      const state = parseJsonObject(fittingJson(stored));
      checked.parse(state);
      return state;
    },
  },
);
