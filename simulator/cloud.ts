/** The simulated cloud: one instance for each providerID, EC2's behaviour as far as Curfew can see it. */
import { addDuration, seconds } from '../shared/domain/time.ts';
import { RetryableError } from '../shared/errors.ts';
import type { InstanceOutcome, Instances, InstanceState } from '../shared/ports/instances.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import type { CloudFailure } from './scenario/scenario.ts';

/** From the call to `terminated`. */
const TERMINATION_TAKES = seconds(5);

type OnCall = (verb: 'terminate' | 'reboot', providerID: string) => void;

export interface Cloud {
  /** An instance of that providerID runs, unless it is known already. */
  add(providerID: string, options?: { readonly autoScalingGroup?: string }): void;
  setState(providerID: string, state: InstanceState): void;
  /** How calls about that instance fail from now on. */
  setFailure(providerID: string, failure: CloudFailure): void;
  stateOf(providerID: string): InstanceState | undefined;
  /** All instances, with their states. */
  states(): readonly (readonly [providerID: string, state: InstanceState])[];
  /** Ends an instance at once, as its owner does. */
  remove(providerID: string): void;
  /** The port of a function; `onCall` hears of each call that the cloud accepts. */
  instances(onCall: OnCall): Instances;
}

export function createCloud(scheduler: Scheduler): Cloud {
  const states = new Map<string, InstanceState>();
  const groups = new Map<string, string>();
  const failures = new Map<string, CloudFailure>();

  const check = (providerID: string, doing: string): void => {
    const failure = failures.get(providerID) ?? 'none';
    if (failure === 'throttle') {
      throw new RetryableError(`${doing}: RequestLimitExceeded`, { reason: 'RequestLimitExceeded' });
    }
    if (failure === 'error') throw new RetryableError(`${doing}: InternalError`, { reason: 'InternalError' });
  };

  const terminate = (providerID: string, onCall: OnCall): InstanceOutcome => {
    const state = states.get(providerID);
    if (state === undefined) return { kind: 'notFound' };
    onCall('terminate', providerID);
    if (state === 'shutting-down' || state === 'terminated') return { kind: 'ok' };
    states.set(providerID, 'shutting-down');
    scheduler.at(addDuration(scheduler.now(), TERMINATION_TAKES), () => {
      if (states.get(providerID) === 'shutting-down') states.set(providerID, 'terminated');
    });
    return { kind: 'ok' };
  };

  return {
    add(providerID, { autoScalingGroup } = {}) {
      if (!states.has(providerID)) states.set(providerID, 'running');
      if (autoScalingGroup !== undefined) groups.set(providerID, autoScalingGroup);
    },
    setState: (providerID, state) => states.set(providerID, state),
    setFailure: (providerID, failure) => failures.set(providerID, failure),
    stateOf: providerID => states.get(providerID),
    states: () => [...states],
    remove(providerID) {
      if (states.has(providerID)) states.set(providerID, 'terminated');
    },
    instances: onCall => ({
      async describe(providerID) {
        check(providerID, `describing instance ${providerID}`);
        const state = states.get(providerID);
        const group = groups.get(providerID);
        return state === undefined ? undefined : { state, ...(group !== undefined && { autoScalingGroup: group }) };
      },
      async terminate(providerID) {
        check(providerID, `terminating instance ${providerID}`);
        return terminate(providerID, onCall);
      },
      async reboot(providerID) {
        check(providerID, `rebooting instance ${providerID}`);
        const state = states.get(providerID);
        if (state === undefined) return { kind: 'notFound' };
        if (state === 'stopping' || state === 'stopped') {
          return { kind: 'refused', reason: 'IncorrectInstanceState', message: `instance ${providerID} is ${state}` };
        }
        onCall('reboot', providerID);
        return { kind: 'ok' };
      },
      async terminateInAutoScalingGroup(providerID) {
        check(providerID, `terminating instance ${providerID} in its Auto Scaling group`);
        const state = states.get(providerID);
        if (!groups.has(providerID) || state === undefined || state === 'terminated') {
          const message = `Instance Id not found - No managed instance found for instance ID ${providerID}`;
          return { kind: 'refused', reason: 'NotInAutoScalingGroup', message };
        }
        return terminate(providerID, onCall);
      },
    }),
  };
}
