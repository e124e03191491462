/** The simulated cloud: one instance for each providerID, EC2's behaviour as far as Curfew can see it. */
import { addDuration, seconds, type EpochMs } from '../shared/domain/time.ts';
import { RetryableError } from '../shared/errors.ts';
import type { InstanceOutcome, Instances, InstanceState } from '../shared/ports/instances.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import type { CloudChecks, CloudFailure } from './scenario/scenario.ts';

/** From the call to `terminated`. */
const TERMINATION_TAKES = seconds(5);

type OnCall = (verb: 'terminate' | 'reboot', providerID: string) => void;

export interface Cloud {
  /** An instance of that providerID runs, unless it is known already. */
  add(providerID: string, options?: { readonly autoScalingGroup?: string }): void;
  setState(providerID: string, state: InstanceState): void;
  /** How calls about that instance fail from now on. */
  setFailure(providerID: string, failure: CloudFailure): void;
  /** What EC2 says of it from now on, where it said something else. */
  setChecks(providerID: string, checks: CloudChecks): void;
  stateOf(providerID: string): InstanceState | undefined;
  /** What a check says of it; undefined: there is no such instance. */
  checkOf(providerID: string, check: string): string | undefined;
  /** Whether calls about that instance fail at the moment. */
  fails(providerID: string): boolean;
  /** All instances, with their states. */
  states(): readonly (readonly [providerID: string, state: InstanceState])[];
  /** Ends an instance at once, as its owner does. */
  remove(providerID: string): void;
  /** The port of a function; `onCall` hears of each call that the cloud accepts. */
  instances(onCall: OnCall): Instances;
}

/** @param onState hears of each change of an instance's state */
export function createCloud(
  scheduler: Scheduler,
  onState: (providerID: string, state: InstanceState) => void = () => undefined,
): Cloud {
  const states = new Map<string, InstanceState>();
  const launchTimes = new Map<string, EpochMs>();
  const enter = (providerID: string, state: InstanceState): void => {
    if (states.get(providerID) === state) return;
    if (!launchTimes.has(providerID)) launchTimes.set(providerID, scheduler.now());
    states.set(providerID, state);
    onState(providerID, state);
  };
  const groups = new Map<string, string>();
  const failures = new Map<string, CloudFailure>();
  const checks = new Map<string, Readonly<Record<string, string | undefined>>>();

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
    enter(providerID, 'shutting-down');
    scheduler.at(addDuration(scheduler.now(), TERMINATION_TAKES), () => {
      if (states.get(providerID) === 'shutting-down') enter(providerID, 'terminated');
    });
    return { kind: 'ok' };
  };

  const checkOf = (providerID: string, name: string): string | undefined => {
    const state = states.get(providerID);
    if (state === undefined) return undefined;
    // Without an application of its own there is nothing to check, nor on what does not run.
    const usual = name === 'InstanceStatus' && state === 'running' ? 'ok' : 'not-applicable';
    return checks.get(providerID)?.[name] ?? usual;
  };

  return {
    add(providerID, { autoScalingGroup } = {}) {
      if (!states.has(providerID)) enter(providerID, 'running');
      if (autoScalingGroup !== undefined) groups.set(providerID, autoScalingGroup);
    },
    setState: enter,
    setFailure: (providerID, failure) => failures.set(providerID, failure),
    setChecks: (providerID, stated) => checks.set(providerID, { ...checks.get(providerID), ...stated }),
    stateOf: providerID => states.get(providerID),
    checkOf,
    fails: providerID => (failures.get(providerID) ?? 'none') !== 'none',
    states: () => [...states],
    remove(providerID) {
      if (states.has(providerID)) enter(providerID, 'terminated');
    },
    instances: onCall => ({
      async describe(providerID) {
        check(providerID, `describing instance ${providerID}`);
        const state = states.get(providerID);
        const group = groups.get(providerID);
        return state === undefined ? undefined : { state, ...(group !== undefined && { autoScalingGroup: group }) };
      },
      async checkOf(providerID, name) {
        check(providerID, `asking for ${name} of instance ${providerID}`);
        return checkOf(providerID, name);
      },
      async list() {
        for (const providerID of failures.keys()) check(providerID, 'listing instances');
        return [...states].flatMap(([providerID, state]) => {
          const launchTime = launchTimes.get(providerID);
          const isListed = !groups.has(providerID) && state !== 'shutting-down' && state !== 'terminated';
          return isListed && launchTime !== undefined ? [{ providerID, state, launchTime }] : [];
        });
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
