/** Cloud instances by providerID (`aws:///us-west-2a/i-0abc`), never by node name (I10). */
import type { Confirmation } from '../domain/repair-policy.ts';
import type { EpochMs } from '../domain/time.ts';

export type InstanceState = 'pending' | 'running' | 'stopping' | 'stopped' | 'shutting-down' | 'terminated';

export interface Instance {
  readonly state: InstanceState;
  /** Name of the Auto Scaling group that it is part of. */
  readonly autoScalingGroup?: string;
}

/** As a list of instances has it. */
export interface LaunchedInstance {
  readonly providerID: string;
  readonly state: InstanceState;
  /** Time of its last start. */
  readonly launchTime: EpochMs;
}

/**
 * The outcome of a call. `notFound`: the cloud knows no such instance, there is nothing left to do. `refused`: the call
 * had no effect, because of what the instance is (stopped, protected from termination, in no group); the same call
 * meets the same until that changes.
 */
export type InstanceOutcome =
  | { readonly kind: 'ok' }
  | { readonly kind: 'notFound' }
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string };

/**
 * All throw a `RetryableError` when throttled, not allowed, or without an answer (then with `outcomeUnknown` for a call that changes
 * something), and a `TerminalError` for what is no providerID.
 */
export interface Instances {
  /** undefined: the cloud knows no such instance. */
  describe(providerID: string): Promise<Instance | undefined>;
  /** The result of a check of the cloud, in the cloud's own words (`ok`, `impaired`, `insufficient-data`, …); undefined: nothing. */
  checkOf(providerID: string, check: Confirmation): Promise<string | undefined>;
  /**
   * Every instance that Karpenter launched for the cluster and that has not ended and is not about to (`pending`, `running`, `stopping`,
   * `stopped`); all pages, or it throws. Not those of node groups, which their Auto Scaling groups look after.
   */
  list(): Promise<readonly LaunchedInstance[]>;
  /** `ok` also for an instance that is shutting down or terminated. */
  terminate(providerID: string): Promise<InstanceOutcome>;
  /** `ok` also for a terminated instance, which ignores it. */
  reboot(providerID: string): Promise<InstanceOutcome>;
  /** Ends an instance so that its Auto Scaling group starts another in its place: the group's capacity stays. */
  terminateInAutoScalingGroup(providerID: string): Promise<InstanceOutcome>;
}
