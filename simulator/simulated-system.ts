/** Curfew's parts over those of a simulation: outages, faults, the trace and the invariants stand between them. */
import type { ReconcilerFactory } from '../runtime/functions.ts';
import { createInProcessKubernetesApi } from '../runtime/in-process/kubernetes-api.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import { createSystem } from '../runtime/system.ts';
import type { BuriedMessage, ForwarderPorts, SystemHooks, SystemParts } from '../runtime/system-parts.ts';
import type { FunctionName } from '../shared/contract/names.ts';
import { addDuration, type DurationMs } from '../shared/domain/time.ts';
import { slowEnvironment, slowForwarder } from './call-duration.ts';
import type { FaultInjector } from './faults/injector.ts';
import { deliverWithFaults } from './faults/messages.ts';
import { SURVIVABLE_CALL_FAULTS } from './faults/mix.ts';
import { faultyEnvironment, faultyForwarder } from './faults/ports.ts';
import { isLeftOut, withGrantedKinds } from './granted-kinds.ts';
import { aboutOf } from './hooks.ts';
import type { InvariantWatcher } from './invariants/watcher.ts';
import { CURFEW_USER, type SimulatedParts } from './parts.ts';
import type { Random } from './random.ts';
import { CLUSTER_NAME, type Scenario } from './scenario/scenario.ts';

/** Other parts than the real ones, for tests that prove what a mistake would do. */
export interface Replacements {
  /** Replaces functions. */
  readonly reconcilers?: Readonly<Partial<Record<FunctionName, ReconcilerFactory>>>;
  /** Changes what a forwarder is given. */
  readonly forwarder?: (ports: ForwarderPorts) => ForwarderPorts;
  /** Replaces rows of the permission table. */
  readonly permissions?: SystemParts['permissions'];
  /** Called for every permission that a call uses. */
  readonly onPermissionUsed?: SystemHooks['onPermissionUsed'];
}

/** What differs from run to run. */
export interface SimulatedRun {
  readonly scenario: Scenario;
  readonly replacements: Replacements;
  readonly time: Scheduler;
  readonly invariants: InvariantWatcher;
  readonly onBuried: (message: BuriedMessage) => void;
  readonly faults: { readonly injector: FaultInjector; readonly random: Random } | undefined;
  /** How long each call of a port takes; undefined: no time at all. */
  readonly callDuration: DurationMs | undefined;
}

export function createSimulatedSystem(
  { core, watch, outages, refusals, lateness, store, cloud, reboot, cleanups, hooks, trace }: SimulatedParts,
  { scenario, replacements, time, invariants, onBuried, faults, callDuration }: SimulatedRun,
): ReturnType<typeof createSystem> {
  const injector = faults?.injector;
  const skews = faults?.random.stream('skews');
  return createSystem({
    cluster: CLUSTER_NAME,
    scheduler: time,
    kubernetes(by) {
      const user = `${CURFEW_USER}${by}`;
      return outages.guard('api', createInProcessKubernetesApi(refusals.guard(core, by, user), user));
    },
    watch: outages.guardWatch(watch),
    records: outages.guardLedger(outages.guard('store', invariants.observeRecords(store.records))),
    dueIndex: outages.guard('store', store.dueIndex),
    instances: by =>
      cloud.instances((verb, providerID) => {
        trace.addCall({ by, verb, resource: 'instances', name: providerID });
        if (verb === 'reboot' && scenario.actors.has('cloud')) reboot(providerID);
      }),
    callHooks: by =>
      hooks.hooks(call => {
        const resource = call.purpose === 'cleanup' ? 'cleanups' : 'hooks';
        trace.addCall({ by, verb: 'invoke', resource, name: call.name, body: call.details, about: aboutOf(call) });
      }, cleanups),
    audit: {
      write(record) {
        trace.addAudit(record);
        invariants.audited(record);
      },
    },
    ...(replacements.reconcilers && { reconcilers: replacements.reconcilers }),
    permissions: withGrantedKinds(scenario, core.resources(), replacements.permissions),
    ...(faults && { random: jitter(faults.injector, faults.random) }),
    hooks: {
      ...(replacements.onPermissionUsed && { onPermissionUsed: replacements.onPermissionUsed }),
      onRun: (name, lifetime) => invariants.runStarted(name, lifetime),
      onFailed: (name, error) => invariants.failed(name, error),
      onPermissionRefused(part, message) {
        if (!isLeftOut(scenario, message)) invariants.refused(part, message);
      },
      onBuried(message) {
        onBuried(message);
        invariants.buried(message.function, message.reason, message.explanation);
      },
      environment(ports, _, lifetime) {
        const guarded = { ...ports, bus: outages.guard('bus', ports.bus) };
        const timed =
          callDuration === undefined
            ? guarded
            : slowEnvironment(guarded, { duration: callDuration, scheduler: time, lifetime });
        const context = injector && { injector, scheduler: time, lifetime };
        const faulty = context === undefined || skews === undefined ? timed : faultyEnvironment(timed, context, skews);
        return invariants.observe(faulty, lifetime);
      },
      forwarder(ports, lifetime) {
        const guarded = { ...ports, bus: outages.guard('bus', ports.bus) };
        const timed =
          callDuration === undefined
            ? guarded
            : slowForwarder(guarded, { duration: callDuration, scheduler: time, lifetime });
        const context = injector && { injector, scheduler: time, lifetime, callFaults: SURVIVABLE_CALL_FAULTS };
        const seen =
          context === undefined || skews === undefined
            ? timed
            : faultyForwarder(timed, context, skews, () => core.compact());
        return replacements.forwarder?.(seen) ?? seen;
      },
      deliver(target, asked, send) {
        const late = lateness.of(target);
        const sendLater = (delay: DurationMs): void =>
          late === 0
            ? send(delay)
            : void time.at(addDuration(time.now(), late), () => {
                invariants.cameLate();
                send(delay);
              });
        if (injector === undefined) sendLater(asked);
        else deliverWithFaults(asked, sendLater, injector, time);
      },
    },
  });
}

/** Retries are spread as in production while faults are on. */
function jitter(injector: FaultInjector, random: Random): () => number {
  const numbers = random.stream('jitter');
  return () => (injector.active ? numbers.next() : 0);
}
