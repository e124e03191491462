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
import { fieldAt, textAt } from './fields.ts';
import type { Log } from './log.ts';
import { guardSilence, orAborted } from './silence.ts';
import { objectOf } from '../shared/ports/read-answer.ts';

const LEASES: ResourceType = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };

export interface LeaseSettings {
  readonly namespace: string;
  readonly name: string;
  /** Unique for each process, also across restarts. */
  readonly identity: string;
  /** Others wait so long after the last renewal that they saw. Whole seconds. */
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

/**
 * Creates the Lease where it is missing. What the API server refuses or fails to answer is logged and tried again,
 * until the signal or `renewDeadline` ends it.
 */
export function createLease({ kubernetes, clock, log, settings }: LeaseDeps): Lease {
  const { namespace, name, identity } = settings;
  const ref: ObjectRef = { type: LEASES, namespace, name };
  const about = { lease: `${namespace}/${name}`, identity };
  /** The holder's last sign of life, and when we first saw it. */
  let seen: { readonly sign: string; readonly since: EpochMs } | undefined;

  function isFree(lease: KubernetesObject): boolean {
    const holder = textAt(lease, 'spec', 'holderIdentity');
    if (holder === undefined || holder === identity) return true;
    const sign = `${holder} ${textAt(lease, 'spec', 'renewTime') ?? ''}`;
    if (seen?.sign !== sign) seen = { sign, since: clock.now() };
    return isDue(clock.now(), addDuration(seen.since, durationOf(lease)));
  }

  function durationOf(lease: KubernetesObject): DurationMs {
    const stated = fieldAt(lease, 'spec', 'leaseDurationSeconds');
    return typeof stated === 'number' && stated > 0 ? toDurationMs(stated * 1000) : settings.duration;
  }

  /** One attempt to get or to keep the lease. */
  async function attempt(): Promise<boolean> {
    const lease = objectOf(await kubernetes.get(ref), { notServed: 'notKnown' });
    if (lease === undefined) {
      const spec = { ...ours(), acquireTime: microTime(clock.now()), leaseTransitions: 0 };
      const manifest = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec };
      const outcome = await kubernetes.create(LEASES, manifest);
      if (outcome.kind === 'notFound' || outcome.kind === 'invalid')
        throw new Error(`creating the lease: ${outcome.kind}`);
      return outcome.kind === 'ok';
    }
    if (!isFree(lease)) return false;
    const transitions = fieldAt(lease, 'spec', 'leaseTransitions');
    const takeover = {
      acquireTime: microTime(clock.now()),
      leaseTransitions: (typeof transitions === 'number' ? transitions : 0) + 1,
    };
    const kept = textAt(lease, 'spec', 'holderIdentity') === identity;
    return write(lease, kept ? ours() : { ...ours(), ...takeover });
  }

  const ours = () => ({
    holderIdentity: identity,
    leaseDurationSeconds: settings.duration / 1000,
    renewTime: microTime(clock.now()),
  });

  async function write(lease: KubernetesObject, spec: Readonly<Record<string, string | number>>): Promise<boolean> {
    const { resourceVersion, uid } = lease.metadata;
    const outcome = await kubernetes.patch(ref, { type: 'merge', body: { metadata: { resourceVersion, uid }, spec } });
    return outcome.kind === 'ok';
  }

  return {
    async acquire(signal) {
      for (;;) {
        const acquired = await orAborted(attempt(), signal).catch((error: unknown) => {
          if (!signal.aborted) log.warn({ ...about, error: messageOf(error) }, 'acquiring the lease failed');
          return false;
        });
        signal.throwIfAborted();
        if (acquired) return log.info(about, 'lease acquired');
        await clock.sleep(settings.retryPeriod, signal);
      }
    },
    async hold(signal) {
      const guard = guardSilence(clock, settings.renewDeadline, signal, 'renewing the lease');
      try {
        for (;;) {
          await clock.sleep(settings.retryPeriod, guard.signal);
          const kept = await orAborted(attempt(), guard.signal).catch((error: unknown) => {
            guard.signal.throwIfAborted();
            log.warn({ ...about, error: messageOf(error) }, 'renewing the lease failed');
            return undefined;
          });
          if (kept === true) guard.alive();
          if (kept === false) break;
        }
      } catch {
        // The guard aborted: with `signal`, or because the deadline for renewals is over.
      } finally {
        guard.dispose();
      }
      if (signal.aborted) return 'aborted';
      log.warn(about, 'lease lost');
      return 'lost';
    },
    async release() {
      try {
        const lease = objectOf(await kubernetes.get(ref), { notServed: 'notKnown' });
        if (lease === undefined || textAt(lease, 'spec', 'holderIdentity') !== identity) return;
        await write(lease, { ...ours(), holderIdentity: '', leaseDurationSeconds: 1 });
        log.info(about, 'lease released');
      } catch (error) {
        log.warn({ ...about, error: messageOf(error) }, 'releasing the lease failed, others wait until it expires');
      }
    },
  };
}

/** Kubernetes' MicroTime: exactly six digits of a second's fraction. */
function microTime(instant: EpochMs): string {
  return toIsoText(instant).replace('Z', '000Z');
}
