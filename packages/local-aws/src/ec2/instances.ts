/**
 * The life of EC2 instances: states that follow each other in time. Times are read off the clock when somebody looks, and when somebody is
 * to hear of them.
 */
import { addDuration, hours, isDue, seconds, type DurationMs, type EpochMs } from '../../../../shared/domain/time.ts';
import type { Clock } from '../../../../shared/ports/clock.ts';

/** With EC2's codes. */
export const STATE_CODES = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
} as const;
export type State = keyof typeof STATE_CODES;

export type Tags = Readonly<Record<string, string>>;

export interface InstancesOptions {
  readonly clock: Clock;
  /** How long an instance is in a state before the next one follows by itself. Default: 5 s each. */
  readonly stateTakes?: Partial<Record<'pending' | 'shutting-down' | 'stopping', DurationMs>>;
  /** Hears of each change of a state, at its time. */
  readonly onState?: (instanceId: string, state: State) => void;
  /** Ends what waits for such a time. */
  readonly signal?: AbortSignal;
}

/** What EC2's checks say of an instance; of one that nobody set: `ok` of the instance that runs, and of no application. */
export interface Checks {
  readonly instance?: string | undefined;
  readonly application?: string | undefined;
}

export interface InstanceView {
  readonly instanceId: string;
  readonly availabilityZone: string;
  readonly state: State;
  readonly tags: Tags;
  readonly launchTime: EpochMs;
}

/** An instance as it stands; `state` and `since` change by `enter` alone. */
export interface Instance {
  readonly view: Omit<InstanceView, 'state'>;
  readonly protected: boolean;
  readonly group: string | undefined;
  state: State;
  since: EpochMs;
  reboots: number;
  checks: Checks;
}

export interface Instances {
  /** Launched now: `pending`. In place of one with the same ID. What EC2 has forgotten is gone from here by then. */
  add(instance: Pick<Instance, 'view' | 'protected' | 'group'>): Instance;
  /** In the state that it has come to by now. Undefined once EC2 has forgotten it, an hour after its end. */
  current(instanceId: string): Instance | undefined;
  enter(instance: Instance, state: State, since: EpochMs): void;
  ids(): readonly string[];
  /** Also after EC2 has forgotten it, until somebody looks or launches another one. */
  rebootsOf(instanceId: string): number;
}

const NEXT: Readonly<Partial<Record<State, State>>> = {
  pending: 'running',
  'shutting-down': 'terminated',
  stopping: 'stopped',
};
const FORGOTTEN_AFTER = hours(1);

export function createInstances({ clock, stateTakes = {}, onState, signal }: InstancesOptions): Instances {
  const takes = { pending: seconds(5), 'shutting-down': seconds(5), stopping: seconds(5), ...stateTakes };
  const instances = new Map<string, Instance>();

  const current = (instanceId: string): Instance | undefined => {
    const instance = instances.get(instanceId);
    if (instance === undefined) return undefined;
    const { state } = instance;
    if (state === 'pending' || state === 'shutting-down' || state === 'stopping') {
      const end = addDuration(instance.since, takes[state]);
      if (isDue(clock.now(), end)) enter(instance, NEXT[state] ?? state, end);
    }
    if (instance.state === 'terminated' && isDue(clock.now(), addDuration(instance.since, FORGOTTEN_AFTER))) {
      instances.delete(instanceId);
      return undefined;
    }
    return instance;
  };

  const enter = (instance: Instance, state: State, since: EpochMs): void => {
    if (instance.state === state) return;
    instance.state = state;
    instance.since = since;
    tell(instance);
  };

  /** Says what state it is in, and looks again when the next one follows by itself. */
  const tell = ({ view: { instanceId }, state }: Instance): void => {
    if (onState === undefined) return;
    onState(instanceId, state);
    if (state !== 'pending' && state !== 'shutting-down' && state !== 'stopping') return;
    clock.sleep(takes[state], signal).then(
      () => current(instanceId),
      () => undefined,
    );
  };

  return {
    add(given) {
      for (const known of instances.keys()) current(known);
      const instance: Instance = { ...given, state: 'pending', since: clock.now(), reboots: 0, checks: {} };
      instances.set(instance.view.instanceId, instance);
      tell(instance);
      return instance;
    },
    current,
    enter,
    ids: () => [...instances.keys()],
    rebootsOf: instanceId => instances.get(instanceId)?.reboots ?? 0,
  };
}
