/**
 * The one executor that empties nodes of pods, for drains and terminations. Their plans say which pods go, and how. Here are the calls, what
 * bounds them, and what is reported of each pod.
 *
 * - A call that fails is the answer for its pod: the others are carried out (I8).
 * - An eviction that was not granted is asked for again after 10 s at the earliest, whatever wakes the run (I11). A PodDisruptionBudget that
 *   forbids it is asked once a minute after the twentieth look.
 * - What is refused follows the schedule of refusals (`shared/lifecycle/refusals.ts`), remembered for each pod (I5). A missing permission is
 *   probed with one pod a minute; all are tried when it passes.
 */
import { batchesOf, CALLS_AT_ONCE, inParallel, oneByOne } from '../cluster/in-parallel.ts';
import { instant } from '../contract/instant.ts';
import { EVENT_REASONS } from '../contract/reasons.ts';
import * as z from '../contract/zod.ts';
import { listed } from '../domain/cut-text.ts';
import { cutToBytes } from '../domain/printable.ts';
import { gracePeriodOf } from '../domain/drainable-pod.ts';
import { qualifiedName } from '../domain/kubernetes-object.ts';
import type { PodView } from '../domain/pod.ts';
import type { Protection } from '../domain/protection.ts';
import type { Refusals } from '../domain/refusal.ts';
import { addDuration, earliest, isAhead, seconds, toDurationMs, toTimestamp } from '../domain/time.ts';
import type { DurationMs, EpochMs } from '../domain/time.ts';
import { isRefused, type Backoff } from '../lifecycle/refusals.ts';
import type { About, Report, Reporter } from '../lifecycle/reporter.ts';
import { deletePod, evictPod, NO_SUCH_POD } from './eviction.ts';
import type { DeletionAnswer, EvictionAnswer, PodDeps } from './eviction.ts';

/** One pod, and how it is made to go. `overriddenProtection`: the one that would keep it otherwise; the audit says so (I2). */
export type PodRemoval =
  | {
      readonly kind: 'evict';
      readonly pod: PodView;
      /** Undefined: its own grace period. */
      readonly gracePeriodSeconds?: number | undefined;
      readonly overriddenProtection?: Protection | undefined;
    }
  | {
      readonly kind: 'delete';
      readonly pod: PodView;
      readonly gracePeriodSeconds: number;
      readonly overriddenProtection: Protection | undefined;
    };

/** The answer to the call. `until`: when it is tried again at the earliest; `isFromThisRun`: asked by this run, and not only remembered. */
export type PodAnswer =
  | EvictionAnswer
  | DeletionAnswer
  /** An eviction that was not granted a moment ago, and is not asked for again yet. */
  | { readonly kind: 'askedBefore'; readonly message: string; readonly until: EpochMs }
  /** An eviction that a run asked for a moment ago; what was answered is not known here. */
  | { readonly kind: 'intended' }
  /** 404: the pod has just gone, or the API server contradicts itself. The next look tells which. */
  | { readonly kind: 'noSuchPod'; readonly until: EpochMs }
  | { readonly kind: 'refused'; readonly message: string; readonly until: EpochMs; readonly isFromThisRun: boolean };

export interface PodRemovalResult<Removal extends PodRemoval> {
  readonly removal: Removal;
  readonly answer: PodAnswer;
}

/**
 * Evictions that were asked for a moment ago, by UID of the pod. `until`: none is asked for again before. `message`: why it was not granted;
 * empty: it was granted, or the run that asks has not noted the answer yet.
 */
export type AskedEvictions = Readonly<Record<string, { readonly message: string; readonly until: EpochMs }>>;

export const askedEvictionsSchema = z.record(z.string(), z.object({ message: z.string(), until: instant }));

export interface PodsToRemove<Removal extends PodRemoval> {
  readonly removals: readonly Removal[];
  /** A deletion is only of what was looked at (I2); else of whatever the pod is by now. */
  readonly requiresUnchanged: boolean;
  readonly askedEvictions: AskedEvictions | undefined;
  /** Time of the look: each retry counts from it, or two runs would set two timers for one. */
  readonly now: EpochMs;
  readonly backoff: Backoff;
  /** The refusals in the record. */
  readonly refusals: Refusals | undefined;
  /** Values that a try rests on, beside the pod. */
  readonly restsOn: readonly unknown[];
  /** At this instant a refused deletion is tried at once. */
  readonly deadline?: EpochMs | undefined;
  /** Nobody waits for refused deletions: a refusal is reported even if it may pass within minutes. */
  readonly isLast?: boolean;
  /** The report of a pod that was evicted or deleted. */
  readonly describe: (removal: Removal) => Omit<Report, 'about' | 'reason' | 'metric'>;
  /** Says what is refused, at once or after five minutes, then hourly. @param isRepeated as in `Report` */
  readonly report: (removal: Removal, text: string, isRepeated: boolean) => Promise<void>;
}

/** Carries a plan out: every eviction and every deletion of it, each with its answer, in the order of the plan. */
export async function removePods<Removal extends PodRemoval>(
  deps: PodDeps & { readonly reporter: Reporter },
  wanted: PodsToRemove<Removal>,
): Promise<readonly PodRemovalResult<Removal>[]> {
  const { removals } = wanted;
  const answers = new Map<Removal, PodAnswer>();
  const carryOut = async (removal: Removal): Promise<void> => {
    const answer = await answerTo(deps, wanted, removal);
    answers.set(removal, answer);
    if (answer.kind === 'evicted' || answer.kind === 'deleted')
      await reportRemoval(deps.reporter, removal, wanted.describe(removal));
  };
  await oneByOne(callBatches(wanted), async batch => void (await inParallel(batch.map(carryOut))));
  return removals.flatMap(removal => {
    const answer = answers.get(removal);
    return answer === undefined ? [] : [{ removal, answer }];
  });
}

const keyOf = ({ kind, pod }: { readonly kind: string; readonly pod: PodView }): string => `${kind} pod ${pod.uid}`;

/**
 * Batches of calls that run at once: a node has about a hundred pods, and the API server has other clients. After a
 * missing permission one pod goes first, alone, to show whether it is there again: the one whose last try is oldest.
 */
function callBatches<Removal extends PodRemoval>({
  removals,
  refusals,
}: PodsToRemove<Removal>): readonly (readonly Removal[])[] {
  const probes = removals.flatMap(removal => {
    const refusal = refusals?.[keyOf(removal)];
    return refusal?.cause === 'permission' ? [{ removal, time: refusal.lastTime }] : [];
  });
  const probe = probes.toSorted((a, b) => a.time - b.time)[0]?.removal;
  const others = removals.filter(removal => removal !== probe);
  const batches = batchesOf(others, CALLS_AT_ONCE);
  return probe === undefined ? batches : [[probe], ...batches];
}

const RETRY = seconds(10);
/**
 * The most bytes of an answer that are kept and said, by how many pods are asked about: a record has room for 400 KB, and keeps each twice. Few
 * steps, so that the words stay the same while pods go.
 */
const answerBytes = (pods: number): number => (pods > 250 ? 80 : pods > 110 ? 450 : 900);

async function answerTo<Removal extends PodRemoval>(
  deps: PodDeps,
  {
    removals,
    requiresUnchanged,
    askedEvictions,
    now,
    backoff,
    refusals,
    restsOn,
    deadline,
    isLast,
    report,
  }: PodsToRemove<Removal>,
  removal: Removal,
): Promise<PodAnswer> {
  const { kind, pod } = removal;
  const known = kind === 'evict' ? askedEvictions?.[pod.uid] : undefined;
  if (known !== undefined && isAhead(now, known.until)) {
    const { message, until } = known;
    if (message === '') return { kind: 'intended' };
    return message === NO_SUCH_POD ? { kind: 'noSuchPod', until } : { kind: 'askedBefore', message, until };
  }
  const { uid, annotations, labels, deletionTime } = pod;
  let isFromThisRun = false;
  const maxBytes = answerBytes(removals.length);
  const change = {
    key: keyOf(removal),
    stored: refusals,
    restsOn: [uid, annotations, labels, deletionTime, ...restsOn],
    maxBytes,
    report: (text: string, isRepeated: boolean) => report(removal, text, isRepeated),
    ...(kind === 'delete' && { deadline, isReportedAtOnce: isLast }),
  };
  const outcome = await backoff.try(change, async () => {
    isFromThisRun = true;
    const answer =
      removal.kind === 'evict'
        ? await evictPod(deps, pod, removal.gracePeriodSeconds)
        : await deletePod(deps, pod, { gracePeriodSeconds: removal.gracePeriodSeconds, unchanged: requiresUnchanged });
    return { answer };
  });
  if (!isRefused(outcome)) {
    const { answer } = outcome;
    // The next look has only the cut text, and must not report it as another one.
    return answer.kind === 'blocked' ? { ...answer, message: cutToBytes(answer.message, maxBytes) } : answer;
  }
  const { message, redeliveryError } = outcome;
  const until = redeliveryError === undefined ? outcome.until : addDuration(now, retryAfterOf(redeliveryError));
  if (redeliveryError !== undefined && message === NO_SUCH_POD) return { kind: 'noSuchPod', until };
  return { kind: 'refused', message, until, isFromThisRun };
}

const retryAfterOf = ({ retryAfterMs = 0 }: { readonly retryAfterMs?: number | undefined }): DurationMs =>
  toDurationMs(Math.max(retryAfterMs, RETRY));

const aboutPod = ({ name, namespace, uid }: PodView): About => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, uid },
});

function reportRemoval(
  reporter: Reporter,
  { kind, pod }: PodRemoval,
  report: Omit<Report, 'about' | 'reason' | 'metric'>,
): Promise<void> {
  const about = aboutPod(pod);
  return reporter.report(
    kind === 'evict'
      ? {
          ...report,
          about,
          reason: EVENT_REASONS.evicted,
          metric: { name: 'PodEviction', dimensions: { answer: 'evicted' } },
        }
      : { ...report, about, reason: EVENT_REASONS.disrupted, metric: { name: 'PodForcedDeletion' } },
  );
}

/**
 * Adds to the record, before these pods are tried, that a run asks for their evictions. If two runs look at once, only
 * the one that writes this asks (I11). Returns the same value if the record says so already.
 *
 * @param refusals those whose schedule says when they are tried
 */
export function withEvictionIntents(
  before: AskedEvictions,
  removals: readonly { readonly kind: string; readonly pod: PodView }[],
  now: EpochMs,
  refusals?: Refusals,
): AskedEvictions {
  const intents = removals.flatMap(({ kind, pod }) => {
    const { uid } = pod;
    const known = before[uid];
    const isAsked = known !== undefined && isAhead(now, known.until);
    if (kind !== 'evict' || isAsked || refusals?.[keyOf({ kind, pod })] !== undefined) return [];
    return [[uid, { message: known?.message ?? '', until: addDuration(now, RETRY) }] as const];
  });
  return intents.length === 0 ? before : { ...before, ...Object.fromEntries(intents) };
}

/**
 * Lists the evictions that are not asked for again for a moment. @param intents what the record has said since before
 * these pods were tried
 */
export function askedEvictionsAfter(
  before: AskedEvictions | undefined,
  results: readonly PodRemovalResult<PodRemoval>[],
  now: EpochMs,
  intents: AskedEvictions = {},
): AskedEvictions {
  const next = results.flatMap(({ removal: { kind, pod }, answer }) => {
    const known = before?.[pod.uid];
    if (kind !== 'evict') return [];
    if (known !== undefined && isAhead(now, known.until)) return [[pod.uid, known] as const];
    // as it was noted: the record needs no second write.
    const intent = answer.kind === 'evicted' ? intents[pod.uid] : undefined;
    if (intent !== undefined) return [[pod.uid, { ...intent, message: '' }] as const];
    const message = messageOf(answer);
    if (message === undefined || (answer.kind === 'refused' && !answer.isFromThisRun)) return [];
    return [[pod.uid, { message, until: addDuration(now, RETRY) }] as const];
  });
  return Object.fromEntries(next);
}

/** The reason why the pod is still there; undefined: nothing forbids its removal. */
function messageOf(answer: PodAnswer): string | undefined {
  if (answer.kind === 'noSuchPod') return NO_SUCH_POD;
  return 'message' in answer ? answer.message : undefined;
}

/** The pods that a look leaves undone, and when the next one is due. */
export interface RemainingPods {
  /** Looks in a row at which a pod had changed, or its eviction was not granted. */
  readonly failedLooks: number;
  /** Time at which a pod is tried again. */
  readonly retryTime: EpochMs | undefined;
  /** A pod changed between look and call: it is looked at again at once. */
  readonly retriesAtOnce: boolean;
  /** The pods that must not go, and why, in words that stay the same while nothing changes. */
  readonly texts: readonly string[];
}

/** Looks after which a PodDisruptionBudget is asked only as a safety net: its own event wakes the drain sooner. */
const PATIENT_AFTER = 20;
const PATIENT_RETRY = seconds(60);
/** Conflicts in a row before they are reported. */
const CONFLICTS_SAID = 5;

/**
 * Sums up which pods the answers leave, and when to look again. A pod that changes between look and call is looked at
 * again at once; the second time in a row it waits as one whose eviction is forbidden. A longer `Retry-After` of the
 * API server is respected.
 *
 * @param before `failedLooks` of the look before
 */
export function remainingAfter(
  before: number,
  results: readonly PodRemovalResult<PodRemoval>[],
  now: EpochMs,
): RemainingPods {
  const answers = results.map(({ answer }) => answer);
  const isChanged = answers.some(({ kind }) => kind === 'changed');
  const isCounted = isChanged || answers.some(({ kind }) => kind === 'blocked');
  const isEmpty = !isCounted && answers.every(({ kind }) => kind !== 'askedBefore' && kind !== 'intended');
  const failedLooks = isEmpty ? 0 : Math.min(before + (isCounted ? 1 : 0), PATIENT_AFTER + 1);
  const asked = answers.map(answer => (answer.kind === 'blocked' ? (answer.retryAfter ?? 0) : 0));
  const own = failedLooks > PATIENT_AFTER ? PATIENT_RETRY : RETRY;
  const counted = isCounted ? addDuration(now, toDurationMs(Math.max(own, ...asked))) : undefined;
  const known = answers.map(answer => ('until' in answer ? answer.until : undefined)).reduce(earliest, undefined);
  const retryTime = earliest(counted, known);
  const texts = results.flatMap(({ removal: { pod }, answer }) => {
    if (answer.kind === 'changed' && failedLooks >= CONFLICTS_SAID)
      return [`${qualifiedName(pod)}: each eviction ends in a conflict`];
    return 'message' in answer ? [`${qualifiedName(pod)}: ${answer.message}`] : [];
  });
  return { failedLooks, retryTime, retriesAtOnce: isChanged && failedLooks === 1, texts };
}

/**
 * Describes the pods that must not go, and why; undefined: none. @param others those that no protection keeps, as
 * `RemainingPods.texts`
 */
export function describeBlockedPods(
  protectedPods: readonly { readonly pod: PodView; readonly until: EpochMs | undefined }[],
  others: readonly string[],
): string | undefined {
  const texts = protectedPods.map(({ pod, until }) => {
    const end = until === undefined ? '' : ` until ${toTimestamp(until)}`;
    return `${qualifiedName(pod)} is protected${end}`;
  });
  const blocked = [...texts, ...others];
  return blocked.length === 0 ? undefined : `pods are left that must not go: ${listed(blocked)}`;
}

/** The latest `deletionTime` of a pod that is ended now: the API server rounds it to seconds. */
export function latestDeletionTime({ pod, gracePeriodSeconds }: PodRemoval, now: EpochMs): EpochMs {
  const grace = gracePeriodSeconds === undefined ? gracePeriodOf(pod) : seconds(gracePeriodSeconds);
  return addDuration(addDuration(now, grace), seconds(1));
}

/** Forgets what was refused of pods that are not there any more. */
export function forgetPods(backoff: Backoff, refusals: Refusals | undefined, pods: readonly PodView[]): void {
  const isThere = new Set(pods.map(({ uid }) => uid));
  for (const key of Object.keys(refusals ?? {})) {
    const uid = /^(?:evict|delete) pod (.+)$/.exec(key)?.[1];
    if (uid !== undefined && !isThere.has(uid)) backoff.forget(key);
  }
}
