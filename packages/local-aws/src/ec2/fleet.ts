/**
 * What EC2 and Auto Scaling do with instances when they are called: launch, end, reboot, with termination protection, and groups that start
 * another instance for each that is ended in them.
 */
import { randomBytes } from 'node:crypto';
import { AwsError } from './aws-error.ts';
import {
  createInstances,
  type Checks,
  type Instance,
  type InstancesOptions,
  type InstanceView,
  type State,
  type Tags,
} from './instances.ts';

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

export interface StateChange {
  readonly instanceId: string;
  readonly previous: State;
  readonly current: State;
}

export interface Fleet {
  launch(options?: LaunchOptions): InstanceView;
  /** As its owner, or the hardware, does. */
  setState(instanceId: string, state: State): void;
  /** What EC2's checks say of it from now on. */
  setChecks(instanceId: string, checks: Checks): void;
  checksOf(instanceId: string): { readonly instance: string; readonly application: string };
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

const INSTANCE_ID = /^i-([0-9a-f]{8}|[0-9a-f]{17})$/;
const GROUP_TAG = 'aws:autoscaling:groupName';

/** No instance at the start. */
export function createFleet(options: InstancesOptions): Fleet {
  const { clock } = options;
  const instances = createInstances(options);

  const required = (instanceId: string): Instance => {
    if (!INSTANCE_ID.test(instanceId)) throw new AwsError('InvalidInstanceID.Malformed', `Invalid id: "${instanceId}"`);
    const known = instances.current(instanceId);
    if (known === undefined) {
      throw new AwsError('InvalidInstanceID.NotFound', `The instance ID '${instanceId}' does not exist`);
    }
    return known;
  };

  const end = (known: Instance): StateChange => {
    const previous = known.state;
    if (previous !== 'terminated' && previous !== 'shutting-down') {
      // What does not run has nothing to shut down.
      instances.enter(known, previous === 'stopped' ? 'terminated' : 'shutting-down', clock.now());
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
      const { state } = instances.add({ view, protected: options.protected === true, group: autoScalingGroup });
      return { ...view, state };
    },
    setState: (instanceId, state) => instances.enter(required(instanceId), state, clock.now()),
    setChecks(instanceId, checks) {
      const known = required(instanceId);
      known.checks = { ...known.checks, ...checks };
    },
    checksOf(instanceId) {
      const { checks, state } = required(instanceId);
      const usual = state === 'running' ? 'ok' : 'not-applicable';
      return { instance: checks.instance ?? usual, application: checks.application ?? 'not-applicable' };
    },
    look(instanceId) {
      const known = instances.current(instanceId);
      return known && { ...known.view, state: known.state };
    },
    required(instanceId) {
      const { view, state } = required(instanceId);
      return { ...view, state };
    },
    all: () => instances.ids().flatMap(instanceId => fleet.look(instanceId) ?? []),
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
    rebootsOf: instanceId => instances.rebootsOf(instanceId),
    groupOf: instanceId => instances.current(instanceId)?.group,
    terminateInGroup(instanceId, shrink) {
      const known = instances.current(instanceId);
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
