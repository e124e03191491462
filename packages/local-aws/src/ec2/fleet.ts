/**
 * EC2 instances as far as their life goes: states that follow each other in time, termination protection, and Auto Scaling groups that
 * start another instance for each that is ended in them. Times are read off the clock when somebody looks, and when somebody is to hear of them.
 */
import { randomBytes } from 'node:crypto';
import { addDuration, hours, isDue, seconds, type DurationMs, type EpochMs } from '../../../../shared/domain/time.ts';
import type { Clock } from '../../../../shared/ports/clock.ts';
import { AwsError } from './aws-error.ts';

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

export interface LaunchOptions {
  /** `i-` and 8 or 17 hexadecimal digits; made up without it. */
  readonly instanceId?: string;
  readonly availabilityZone?: string;
  readonly tags?: Tags;
  /** `disableApiTermination`. */
  readonly protected?: boolean;
  /** A group of this name is there as soon as an instance is in it. */
  readonly autoScalingGroup?: string;
}

export interface FleetOptions {
  readonly clock: Clock;
  /** How long an instance is in a state before the next one follows by itself. */
  readonly stateTakes?: Partial<Record<'pending' | 'shutting-down' | 'stopping', DurationMs>>;
  /** Hears of each change of a state, at its time. */
  readonly onState?: (instanceId: string, state: State) => void;
  /** Ends what waits for such a time. */
  readonly signal?: AbortSignal;
}

export interface InstanceView {
  readonly instanceId: string;
  readonly availabilityZone: string;
  readonly state: State;
  readonly tags: Tags;
  readonly launchTime: EpochMs;
}

export interface StateChange {
  readonly instanceId: string;
  readonly previous: State;
  readonly current: State;
}

export interface Fleet {
  launch(options?: LaunchOptions): InstanceView;
  /** As its owner, or the hardware, does. */
  setState(instanceId: string, state: State): void;
  /** Undefined once EC2 has forgotten it, an hour after its end. */
  look(instanceId: string): InstanceView | undefined;
  /** Throws an `AwsError` for an ID that is malformed, or that no instance has. */
  required(instanceId: string): InstanceView;
  all(): readonly InstanceView[];
  /** Throws an `AwsError` that names the first instance that keeps the call from being made; then nothing was done. */
  terminate(instanceIds: readonly string[]): readonly StateChange[];
  reboot(instanceIds: readonly string[]): void;
  /** How often an instance that ran was rebooted. */
  rebootsOf(instanceId: string): number;
  groupOf(instanceId: string): string | undefined;
  /** Ends it, and another one is launched unless the capacity is to shrink. */
  terminateInGroup(instanceId: string, shrink: boolean): { readonly group: string; readonly description: string };
}

interface Known {
  readonly view: Omit<InstanceView, 'state'>;
  readonly protected: boolean;
  readonly group: string | undefined;
  state: State;
  since: EpochMs;
  reboots: number;
}

const NEXT: Readonly<Partial<Record<State, State>>> = {
  pending: 'running',
  'shutting-down': 'terminated',
  stopping: 'stopped',
};
const FORGOTTEN_AFTER = hours(1);
const INSTANCE_ID = /^i-([0-9a-f]{8}|[0-9a-f]{17})$/;
const GROUP_TAG = 'aws:autoscaling:groupName';

/** @param stateTakes how long each passing state takes, 5 s where nothing else is said */
export function createFleet({ clock, stateTakes = {}, onState, signal }: FleetOptions): Fleet {
  const takes = { pending: seconds(5), 'shutting-down': seconds(5), stopping: seconds(5), ...stateTakes };
  const instances = new Map<string, Known>();

  const current = (instanceId: string): Known | undefined => {
    const known = instances.get(instanceId);
    if (known === undefined) return undefined;
    const { state } = known;
    if (state === 'pending' || state === 'shutting-down' || state === 'stopping') {
      const end = addDuration(known.since, takes[state]);
      if (isDue(clock.now(), end)) enter(known, NEXT[state] ?? state, end);
    }
    if (known.state === 'terminated' && isDue(clock.now(), addDuration(known.since, FORGOTTEN_AFTER))) {
      instances.delete(instanceId);
      return undefined;
    }
    return known;
  };

  const enter = (known: Known, state: State, since: EpochMs): void => {
    if (known.state === state) return;
    known.state = state;
    known.since = since;
    tell(known);
  };

  /** Says what state it is in, and looks again when the next one follows by itself. */
  const tell = ({ view: { instanceId }, state }: Known): void => {
    if (onState === undefined) return;
    onState(instanceId, state);
    if (state !== 'pending' && state !== 'shutting-down' && state !== 'stopping') return;
    clock.sleep(takes[state], signal).then(
      () => current(instanceId),
      () => undefined,
    );
  };

  const required = (instanceId: string): Known => {
    if (!INSTANCE_ID.test(instanceId)) throw new AwsError('InvalidInstanceID.Malformed', `Invalid id: "${instanceId}"`);
    const known = current(instanceId);
    if (known === undefined) {
      throw new AwsError('InvalidInstanceID.NotFound', `The instance ID '${instanceId}' does not exist`);
    }
    return known;
  };

  const end = (known: Known): StateChange => {
    const previous = known.state;
    if (previous !== 'terminated' && previous !== 'shutting-down') {
      // What does not run has nothing to shut down.
      enter(known, previous === 'stopped' ? 'terminated' : 'shutting-down', clock.now());
    }
    return { instanceId: known.view.instanceId, previous, current: known.state };
  };

  const fleet: Fleet = {
    launch(options = {}) {
      const {
        instanceId = `i-${randomBytes(9).toString('hex').slice(1)}`,
        availabilityZone = 'us-east-1a',
        autoScalingGroup,
      } = options;
      if (!INSTANCE_ID.test(instanceId)) throw new Error(`${instanceId} is not an instance ID`);
      const tags = { ...options.tags, ...(autoScalingGroup !== undefined && { [GROUP_TAG]: autoScalingGroup }) };
      const view = { instanceId, availabilityZone, tags, launchTime: clock.now() };
      const known: Known = {
        view,
        protected: options.protected === true,
        group: autoScalingGroup,
        state: 'pending',
        since: clock.now(),
        reboots: 0,
      };
      instances.set(instanceId, known);
      tell(known);
      return { ...view, state: known.state };
    },
    setState: (instanceId, state) => enter(required(instanceId), state, clock.now()),
    look(instanceId) {
      const known = current(instanceId);
      return known && { ...known.view, state: known.state };
    },
    required(instanceId) {
      const { view, state } = required(instanceId);
      return { ...view, state };
    },
    all: () => [...instances.keys()].flatMap(instanceId => fleet.look(instanceId) ?? []),
    terminate(instanceIds) {
      const found = instanceIds.map(required);
      const held = found.find(known => known.protected && known.state !== 'terminated');
      if (held !== undefined) {
        throw new AwsError(
          'OperationNotPermitted',
          `The instance '${held.view.instanceId}' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.`,
        );
      }
      return found.map(end);
    },
    reboot(instanceIds) {
      const found = instanceIds.map(required);
      const still = found.find(({ state }) => state === 'stopping' || state === 'stopped');
      if (still !== undefined) {
        throw new AwsError(
          'IncorrectInstanceState',
          `The instance '${still.view.instanceId}' is not in a state from which it can be rebooted.`,
        );
      }
      // Those that are terminated ignore it.
      for (const known of found) if (known.state === 'running') known.reboots += 1;
    },
    rebootsOf: instanceId => instances.get(instanceId)?.reboots ?? 0,
    groupOf: instanceId => current(instanceId)?.group,
    terminateInGroup(instanceId, shrink) {
      const known = current(instanceId);
      if (known?.group === undefined || known.state === 'terminated') {
        throw new AwsError(
          'ValidationError',
          `Instance Id not found - No managed instance found for instance ID: ${instanceId}`,
        );
      }
      const { group, view } = known;
      if (known.state !== 'shutting-down' && !shrink) {
        const { availabilityZone, tags } = view;
        fleet.launch({ availabilityZone, tags, autoScalingGroup: group });
      }
      end(known);
      return { group, description: `Terminating EC2 instance: ${instanceId}` };
    },
  };
  return fleet;
}
