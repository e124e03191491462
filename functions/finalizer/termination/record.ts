/** Record of a termination: its deadline, its calls and how they went. One record per NodeClaim or lone Node. */
import { OWNER } from '../common/context.ts';
import { failureReportSchema } from '../common/failure-report-schema.ts';
import { instant, milliseconds } from '../../../shared/contract/instant.ts';
import * as z from '../../../shared/contract/zod.ts';
import { storedName } from '../../../shared/custom-resource/stored-name.ts';
import {
  HOOK_POINTS,
  ON_TIMEOUTS,
  TERMINATION_SCOPES,
  type TerminationHook,
  type TerminationSettings,
} from '../../../shared/domain/termination.ts';
import { deletionTimeOf, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { DurationMs, EpochMs } from '../../../shared/domain/time.ts';
import { checkedCodec, storedUnder, type RecordCodec } from '../../../shared/lifecycle/record-codec.ts';
import { refusalsSchema } from '../../../shared/lifecycle/refusals.ts';
import { openRecord, type TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import { askedEvictionsSchema } from '../../../shared/pods/drain-pods.ts';

/** A call that may happen once only (I4). */
const attempt = z.object({
  number: z.int().check(z.positive()),
  phase: z.enum(['intended', 'accepted']),
  intendedTime: instant,
});

/** Calls of a hook, as they are known in each phase. */
const hookCalls = {
  firstInvokedTime: instant,
  /** Time of the last call or heartbeat. */
  lastSeenTime: instant,
  attempts: z.int().check(z.positive()),
  /** The first look after its time was over, where that look was late: an answer may have waited. */
  lateLookTime: z.exactOptional(instant),
  /** The last Event of a call that failed. */
  failureReport: z.exactOptional(failureReportSchema),
};
/** The hook was called and nobody waits for it: `forced` at the end of the time, `once` where it could delay nothing. */
const unawaited = z.exactOptional(z.enum(['forced', 'once']));
/** The custom resource that stands for the call, as it was last seen. */
const resource = z.exactOptional(z.extend(storedName, { uid: z.exactOptional(z.string()), seenVersion: z.string() }));
const lastMessage = z.exactOptional(z.string());

const hookProgress = z.discriminatedUnion('phase', [
  /** The call is noted down. */
  z.object({ phase: z.literal('intended'), ...hookCalls, unawaited }),
  /** A worker is at it. `message`: of the failure before its last heartbeat. */
  z.object({ phase: z.literal('pending'), ...hookCalls, unawaited, resource, message: lastMessage }),
  z.object({ phase: z.literal('succeeded'), ...hookCalls, unawaited, resource }),
  /** It is tried again where it is waited for. */
  z.object({ phase: z.literal('failed'), ...hookCalls, unawaited, resource, message: lastMessage }),
  /** It delays or has forced the termination, which waited for it. */
  z.object({ phase: z.literal('timedOut'), ...hookCalls, resource, message: lastMessage }),
  /** The termination went on without it. */
  z.object({ phase: z.literal('passed'), ...hookCalls, unawaited, resource, message: lastMessage }),
]);

const hook = z.pipe(
  z.object({
    name: z.string(),
    at: z.enum(HOOK_POINTS),
    target: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('lambda'), functionName: z.string() }),
      z.object({ kind: z.literal('event'), detailType: z.string() }),
      z.object({ kind: z.literal('customResource'), template: z.string(), conditionType: z.string() }),
    ]),
    deadline: milliseconds,
    heartbeat: z.optional(milliseconds),
    onTimeout: z.enum(ON_TIMEOUTS),
  }),
  z.transform(
    ({
      heartbeat,
      ...rest
    }: Omit<TerminationHook, 'heartbeat'> & { heartbeat?: DurationMs | undefined }): TerminationHook => ({
      ...rest,
      heartbeat,
    }),
  ),
);

const schema = z.object({
  /** The names of our finalizer on these objects. */
  finalizerNames: z.array(z.string()),
  deadline: z.exactOptional(z.object({ time: instant, source: z.string(), sourceUid: z.exactOptional(z.string()) })),
  providerID: z.exactOptional(z.string()),
  nodes: z.record(
    z.string(),
    z.object({
      name: z.string(),
      /** The stored name of `isAccountedFor`. */
      stripped: z.exactOptional(z.boolean()),
    }),
  ),
  /**
   * Times of the deletions of the object and its Nodes, by UID. The record is of these alone: an object that a restored etcd has brought
   * back may be deleted once more.
   */
  deletionTimes: z.exactOptional(z.record(z.string(), instant)),
  instance: z.exactOptional(attempt),
  /** Progress of hooks, by hook name. */
  hooks: z.record(z.string(), hookProgress),
  /** Hook points whose unawaited hooks were reported as called. */
  reportedHookPoints: z.exactOptional(z.array(z.enum(HOOK_POINTS))),
  /** Time when the instance was launched, as far as the objects said. */
  launchTime: z.exactOptional(instant),
  /** UID in the keys of the hook calls, where it is not the subject's: of the NodeClaim that went and left its Node with them. */
  hookKeyUid: z.exactOptional(z.string()),
  /** The UID of the NodeClaim whose termination calls the hooks of the instance; its own where they were called before. */
  hookOwnerUid: z.exactOptional(z.string()),
  /** Looks in a row at which an eviction was not granted, or a pod had changed. */
  failedLooks: z.number(),
  /** Evictions that are not asked for again for a moment. */
  askedEvictions: z.exactOptional(askedEvictionsSchema),
  /** The last audit line: step, and what it waits on. */
  reported: z.exactOptional(z.string()),
  /** The settings when they were last valid: they stay in force when NodePool and policy go, or become unreadable. */
  settings: z.exactOptional(
    z.object({ finalizerName: z.string(), scope: z.enum(TERMINATION_SCOPES), hooks: z.list(hook) }),
  ),
  /** The report that the termination is past its time was made. */
  overdue: z.exactOptional(z.boolean()),
  /** Time when the object was found gone before its termination was over. Older records only, before there was a ledger of instances. */
  orphanedTime: z.exactOptional(instant),
  /** Mode is Observe: nothing has begun, and that was said. */
  observed: z.exactOptional(z.boolean()),
  /** No finalizer of ours is left while somebody else's keeps the object: kept for the instance, and that was said. */
  finalizerGone: z.exactOptional(z.boolean()),
  /** Failed steps that were skipped past the deadline, and whose skipping was reported. */
  skippedSteps: z.exactOptional(z.list(z.string())),
  /** The value of the deadline annotation that could not be read, as it was said. */
  badTimestamp: z.exactOptional(z.string()),
  /** The deadline as it was said last; empty: that there is none. Absent in older records. */
  reportedDeadline: z.exactOptional(z.string()),
  /** Nothing has begun, for the settings cannot be read: the report of that, and its time. */
  unreadable: z.exactOptional(z.object({ message: z.string(), saidTime: instant })),
  /** Nothing has begun: the reason why our finalizer could not be put on or taken off, as it was said. */
  refused: z.exactOptional(z.string()),
  /** Changes and steps that are refused, by UID of the object, name of the step, or verb and UID of the pod. */
  refusals: z.exactOptional(refusalsSchema),
});

/** The record as it is stored: the versions before read it, too. */
type StoredTermination = z.output<typeof schema>;

/** A Node of a termination. */
export interface TerminatedNode {
  readonly name: string;
  /** Nothing more is to be said of its end: we release it, or it went before, which was reported. */
  readonly isAccountedFor?: boolean;
}

/** Reason why nothing begins or goes on, as it was said. */
export type Wait =
  /** Mode is Observe. */
  | { readonly kind: 'observed' }
  /** Our finalizer could not be put on or taken off. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The settings cannot be read. */
  | { readonly kind: 'unreadable'; readonly message: string; readonly reportedTime: EpochMs };

/** The last audit line: what it said, and whether the deadline had forced the termination by then. */
export interface LastReport {
  readonly isForced: boolean;
  readonly text: string;
}

/** Whether its own termination was reported, and how, as the record knows it. */
export type ReportState =
  /** Nothing was said of it yet. */
  | { readonly kind: 'unreported' }
  /**
   * No report about a termination of its own. In a Node's record: the termination of this NodeClaim calls its hooks. In the record of the
   * NodeClaim itself: it is not being deleted, and hooks were called for its instance.
   */
  | { readonly kind: 'hookOwner'; readonly claimUid: string }
  /** The start was reported. `hookOwnerUid`: of a Node whose hooks were left to this NodeClaim before. */
  | { readonly kind: 'reported'; readonly last: LastReport; readonly hookOwnerUid?: string };

/** The record of a termination. */
export interface TerminationRecord extends Omit<
  StoredTermination,
  'nodes' | 'observed' | 'refused' | 'unreadable' | 'reported' | 'hookOwnerUid'
> {
  /** The Nodes of the NodeClaim, by UID; those that went stay listed. */
  readonly nodes: Readonly<Record<string, TerminatedNode>>;
  /** Waits, one of each kind at most; none: the termination is under way, or its hooks are called elsewhere (`hookOwner`). */
  readonly waits: readonly Wait[];
  readonly reportState: ReportState;
}
export type CallAttempt = z.output<typeof attempt>;
/** Settings that a termination keeps; its deadline stands beside them. */
export type KeptSettings = Pick<TerminationSettings, 'finalizerName' | 'scope' | 'hooks'>;
export type HookProgress = z.output<typeof hookProgress>;
/** The progress of a hook in this phase. */
export type HookProgressIn<Phase extends HookProgress['phase']> = Extract<HookProgress, { readonly phase: Phase }>;
/** The custom resource of a hook, as it was last seen. */
export type HookResource = NonNullable<HookProgressIn<'pending'>['resource']>;

export const EMPTY_TERMINATION: TerminationRecord = {
  finalizerNames: [],
  nodes: {},
  hooks: {},
  failedLooks: 0,
  waits: [],
  reportState: { kind: 'unreported' },
};

const CODEC = storedUnder(
  {
    hookKeyUid: 'keyUid',
    hookOwnerUid: 'hooksOf',
    reportedHookPoints: 'hooksSaid',
    reportedDeadline: 'saidDeadline',
    askedEvictions: 'heldEvictions',
    failedLooks: 'refusedEvictions',
    finalizerGone: 'unheld',
    skippedSteps: 'passedOver',
  },
  checkedCodec(OWNER, schema, 3),
);

export const TERMINATION_CODEC: RecordCodec<TerminationRecord> = {
  ...CODEC,
  parse: state => fromStored(CODEC.parse(state)),
  toState: value => CODEC.toState(toStored(value)),
};

/** The id of the record of the termination that is about this NodeClaim or Node. */
export const terminationRecordId = (kind: 'NodeClaim' | 'Node', uid: string): string => `${kind.toLowerCase()}/${uid}`;

export const openTermination = (
  deps: Parameters<typeof openRecord>[0],
  kind: 'NodeClaim' | 'Node',
  uid: string,
): TimedRecord<TerminationRecord> => openRecord(deps, TERMINATION_CODEC, terminationRecordId(kind, uid));

/** Prefix of the stored audit line from the deadline on: older versions have one text for both. */
const FORCED = 'forced ';

function fromStored({
  nodes: storedNodes,
  observed,
  refused,
  unreadable,
  reported,
  hookOwnerUid,
  ...rest
}: StoredTermination): TerminationRecord {
  const waits: Wait[] = [];
  if (observed === true) waits.push({ kind: 'observed' });
  if (refused !== undefined) waits.push({ kind: 'refused', message: refused });
  if (unreadable !== undefined) {
    waits.push({ kind: 'unreadable', message: unreadable.message, reportedTime: unreadable.saidTime });
  }
  const nodes = Object.entries(storedNodes).map(([uid, { name, stripped: isAccountedFor }]) => {
    return [uid, { name, ...(isAccountedFor !== undefined && { isAccountedFor }) }] as const;
  });
  return { ...rest, nodes: Object.fromEntries(nodes), waits, reportState: reportStateOf(reported, hookOwnerUid) };
}

function reportStateOf(reported: string | undefined, hookOwnerUid: string | undefined): ReportState {
  if (reported === undefined) {
    return hookOwnerUid === undefined ? { kind: 'unreported' } : { kind: 'hookOwner', claimUid: hookOwnerUid };
  }
  const isForced = reported.startsWith(FORCED);
  return reportedAs({ isForced, text: isForced ? reported.slice(FORCED.length) : reported }, hookOwnerUid);
}

const reportedAs = (last: LastReport, hookOwnerUid: string | undefined): ReportState =>
  hookOwnerUid === undefined ? { kind: 'reported', last } : { kind: 'reported', last, hookOwnerUid };

function toStored({ nodes, waits, reportState, ...rest }: TerminationRecord): StoredTermination {
  const storedNodes = Object.entries(nodes).map(([uid, { name, isAccountedFor: stripped }]) => {
    return [uid, { name, ...(stripped !== undefined && { stripped }) }] as const;
  });
  const stored: StoredTermination = { ...rest, nodes: Object.fromEntries(storedNodes) };
  for (const wait of waits) {
    switch (wait.kind) {
      case 'observed':
        stored.observed = true;
        break;
      case 'refused':
        stored.refused = wait.message;
        break;
      case 'unreadable':
        stored.unreadable = { message: wait.message, saidTime: wait.reportedTime };
        break;
    }
  }
  const hookOwnerUid = hookOwnerUidOf({ reportState });
  if (hookOwnerUid !== undefined) stored.hookOwnerUid = hookOwnerUid;
  const last = lastReportOf({ reportState });
  if (last !== undefined) stored.reported = `${last.isForced ? FORCED : ''}${last.text}`;
  return stored;
}

/** The record with its present wait; of the same kind the last one counts. */
export const withWait = <Value extends Pick<TerminationRecord, 'waits'>>(value: Value, wait: Wait): Value => ({
  ...value,
  waits: [...value.waits.filter(({ kind }) => kind !== wait.kind), wait],
});

/** The wait of this kind. */
export const waitOf = <Kind extends Wait['kind']>(
  value: Pick<TerminationRecord, 'waits'> | undefined,
  kind: Kind,
): Extract<Wait, { readonly kind: Kind }> | undefined =>
  value?.waits.find((wait): wait is Extract<Wait, { readonly kind: Kind }> => wait.kind === kind);

/** The last audit line; undefined: nothing was said yet. */
export const lastReportOf = ({ reportState }: Pick<TerminationRecord, 'reportState'>): LastReport | undefined =>
  reportState.kind === 'reported' ? reportState.last : undefined;

/** The UID of the NodeClaim whose termination calls or called the hooks of the Node whose record this is. */
export function hookOwnerUidOf({ reportState }: Pick<TerminationRecord, 'reportState'>): string | undefined {
  switch (reportState.kind) {
    case 'unreported':
      return undefined;
    case 'hookOwner':
      return reportState.claimUid;
    case 'reported':
      return reportState.hookOwnerUid;
  }
}

/** The record after this audit line. */
export const withReport = (value: TerminationRecord, last: LastReport): TerminationRecord => ({
  ...value,
  reportState: reportedAs(last, hookOwnerUidOf(value)),
});

/** Whether the record is of other deletions than those of these objects: they lived again in between, or live now. */
export const isOfEarlierDeletion = (
  { deletionTimes = {} }: TerminationRecord,
  objects: readonly KubernetesObject[],
): boolean =>
  objects.some(object => {
    const deletionTime = deletionTimes[object.metadata.uid];
    return deletionTime !== undefined && deletionTime !== deletionTimeOf(object);
  });
