/**
 * Leader election on a Lease (coordination.k8s.io/v1): one forwarder works, others stand by.
 *
 * How long a holder has been silent is measured on our own clock, from when we first saw its last renewal: the holder's clock
 * is never compared with ours. Every write carries the resourceVersion that was read, so of two that try at once one wins.
 * A paused process may believe for a moment that it still holds the lease; two forwarders at work cost double events, no harm.
 */
import type { KubernetesObject, ObjectRef, ResourceType } from '../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  isDue,
  seconds,
  toDurationMs,
  toIsoText,
  type DurationMs,
  type EpochMs,
} from '../shared/domain/time.ts';
import { messageOf } from '../shared/errors.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';
import { objectOf } from '../shared/ports/read-answer.ts';
import { fieldAt, textAt } from './fields.ts';
import type { Log } from './log.ts';
import { guardInactivity, orAborted, type InactivityGuard } from './inactivity.ts';

const LEASES: ResourceType = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };

export interface LeaseSettings {
  readonly namespace: string;
  readonly name: string;
  /** Unique for each process, also across restarts. */
  readonly identity: string;
  /** The time that others wait after the last renewal that they saw, in whole seconds. */
  readonly duration: DurationMs;
  /** A holder that could not renew for so long gives up; shorter than `duration` by more than one request may take. */
  readonly renewDeadline: DurationMs;
  /** Between attempts to acquire or to renew. */
  readonly retryPeriod: DurationMs;
}

export const DEFAULT_LEASE_TIMINGS = {
  duration: seconds(30),
  renewDeadline: seconds(18),
  retryPeriod: seconds(5),
} as const satisfies Partial<LeaseSettings>;

export interface LeaseDeps {
  readonly kubernetes: Pick<KubernetesApi, 'get' | 'create' | 'patch'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: LeaseSettings;
}

export interface Lease {
  /** Resolves when the lease is ours. Rejects only when `signal` aborts. */
  acquire(signal: AbortSignal): Promise<void>;
  /** Renews until the lease is lost (`lost`) or `signal` aborts (`aborted`). Never rejects. */
  hold(signal: AbortSignal): Promise<'lost' | 'aborted'>;
  /** Lets the next one take over at once, if the lease is still ours. Never rejects. */
  release(): Promise<void>;
}

/** For a process that works alone. */
export const ALWAYS_HELD: Lease = {
  acquire: async signal => signal.throwIfAborted(),
  hold: signal =>
    new Promise(resolve => {
      if (signal.aborted) return resolve('aborted');
      signal.addEventListener('abort', () => resolve('aborted'), { once: true });
    }),
  release: () => Promise.resolve(),
};

/** One process that wants the lease. */
interface Candidate extends LeaseDeps {
  readonly ref: ObjectRef;
  /** For the log. */
  readonly about: { readonly lease: string; readonly identity: string };
  /** Whether the holder has been silent for as long as its lease lasts. */
  readonly isSilent: (holder: string, lease: KubernetesObject) => boolean;
}

/**
 * Creates the Lease where it is missing. What the API server refuses or fails to answer is logged and tried again,
 * until the signal or `renewDeadline` ends it.
 */
export function createLease(deps: LeaseDeps): Lease {
  const { namespace, name, identity } = deps.settings;
  const candidate: Candidate = {
    ...deps,
    ref: { type: LEASES, namespace, name },
    about: { lease: `${namespace}/${name}`, identity },
    isSilent: inactivityOfHolder(deps),
  };
  return {
    acquire: signal => acquire(candidate, signal),
    hold: signal => hold(candidate, signal),
    release: () => release(candidate),
  };
}

/** Remembers the holder's last sign of life, and when it was first seen. */
function inactivityOfHolder({ clock, settings }: LeaseDeps): Candidate['isSilent'] {
  let last: { readonly sign: string; readonly since: EpochMs } | undefined;
  return (holder, lease) => {
    const sign = `${holder} ${textAt(lease, 'spec', 'renewTime') ?? ''}`;
    if (last?.sign !== sign) last = { sign, since: clock.now() };
    return isDue(clock.now(), addDuration(last.since, durationOf(lease) ?? settings.duration));
  };
}

function durationOf(lease: KubernetesObject): DurationMs | undefined {
  const stated = fieldAt(lease, 'spec', 'leaseDurationSeconds');
  return typeof stated === 'number' && stated > 0 ? toDurationMs(stated * 1000) : undefined;
}

async function acquire(candidate: Candidate, signal: AbortSignal): Promise<void> {
  const { clock, log, about, settings } = candidate;
  for (;;) {
    const acquired = await orAborted(takeOrRenew(candidate), signal).catch((error: unknown) => {
      if (!signal.aborted) log.warn({ ...about, error: messageOf(error) }, 'acquiring the lease failed');
      return false;
    });
    signal.throwIfAborted();
    if (acquired) return log.info(about, 'lease acquired');
    await clock.sleep(settings.retryPeriod, signal);
  }
}

async function hold(candidate: Candidate, signal: AbortSignal): Promise<'lost' | 'aborted'> {
  const { clock, log, about, settings } = candidate;
  const guard = guardInactivity(clock, settings.renewDeadline, signal, 'renewing the lease');
  try {
    await renewUntilLost(candidate, guard);
  } catch (error) {
    // The guard aborts with `signal`, or when the deadline for renewals is over. Anything else is a bug.
    if (!guard.signal.aborted) log.error({ ...about, error: messageOf(error) }, 'holding the lease failed');
  } finally {
    guard.dispose();
  }
  if (signal.aborted) return 'aborted';
  log.warn(about, 'lease lost');
  return 'lost';
}

/** Ends when another one has the lease. Rejects when the guard aborts. */
async function renewUntilLost(candidate: Candidate, guard: InactivityGuard): Promise<void> {
  const { clock, log, about, settings } = candidate;
  for (;;) {
    await clock.sleep(settings.retryPeriod, guard.signal);
    const kept = await orAborted(takeOrRenew(candidate), guard.signal).catch((error: unknown) => {
      guard.signal.throwIfAborted();
      log.warn({ ...about, error: messageOf(error) }, 'renewing the lease failed');
      return undefined;
    });
    if (kept === true) guard.alive();
    if (kept === false) return;
  }
}

async function release(candidate: Candidate): Promise<void> {
  const { kubernetes, log, ref, about, settings } = candidate;
  try {
    const lease = objectOf(await kubernetes.get(ref), { ifNotServed: 'throw' });
    if (lease === undefined || textAt(lease, 'spec', 'holderIdentity') !== settings.identity) return;
    await write(candidate, lease, { ...ownSpec(candidate), holderIdentity: '', leaseDurationSeconds: 1 });
    log.info(about, 'lease released');
  } catch (error) {
    log.warn({ ...about, error: messageOf(error) }, 'releasing the lease failed, others wait until it expires');
  }
}

/** One attempt to get or to keep the lease. */
async function takeOrRenew(candidate: Candidate): Promise<boolean> {
  const { kubernetes, clock, ref, settings, isSilent } = candidate;
  const lease = objectOf(await kubernetes.get(ref), { ifNotServed: 'throw' });
  if (lease === undefined) return create(candidate);
  const holder = textAt(lease, 'spec', 'holderIdentity');
  if (holder === settings.identity) return write(candidate, lease, ownSpec(candidate));
  if (holder !== undefined && !isSilent(holder, lease)) return false;
  const transitions = fieldAt(lease, 'spec', 'leaseTransitions');
  const leaseTransitions = (typeof transitions === 'number' ? transitions : 0) + 1;
  return write(candidate, lease, { ...ownSpec(candidate), acquireTime: microTime(clock.now()), leaseTransitions });
}

async function create(candidate: Candidate): Promise<boolean> {
  const { kubernetes, clock, settings } = candidate;
  const { namespace, name } = settings;
  const spec = { ...ownSpec(candidate), acquireTime: microTime(clock.now()), leaseTransitions: 0 };
  const manifest = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec };
  const outcome = await kubernetes.create(LEASES, manifest);
  if (outcome.kind === 'notFound' || outcome.kind === 'invalid') throw new Error(`creating the lease: ${outcome.kind}`);
  return outcome.kind === 'ok';
}

const ownSpec = ({ clock, settings }: LeaseDeps) => ({
  holderIdentity: settings.identity,
  leaseDurationSeconds: settings.duration / 1000,
  renewTime: microTime(clock.now()),
});

async function write(
  { kubernetes, ref }: Candidate,
  lease: KubernetesObject,
  spec: Readonly<Record<string, string | number>>,
): Promise<boolean> {
  const { resourceVersion, uid } = lease.metadata;
  const outcome = await kubernetes.patch(ref, { type: 'merge', body: { metadata: { resourceVersion, uid }, spec } });
  return outcome.kind === 'ok';
}

/** Kubernetes' MicroTime: exactly six digits of a second's fraction. */
function microTime(instant: EpochMs): string {
  return toIsoText(instant).replace('Z', '000Z');
}
