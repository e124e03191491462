/** What a simulation is made of, beside Curfew: cluster, cloud, store, what answers hooks, what breaks, and what is written down. */
import { createInProcessClusterWatch } from '../runtime/in-process/cluster-watch.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import { createCleanupAnswers } from './cleanups.ts';
import { createCloud } from './cloud.ts';
import { createHookAnswers } from './hooks.ts';
import { createLateness } from './operations.ts';
import { createLaunches } from './launches.ts';
import { createOutages } from './outages.ts';
import { createReboots } from './reboots.ts';
import { createRefusals } from './refusals.ts';
import type { Scenario } from './scenario/scenario.ts';
import type { IndexedStore } from './due-index.ts';
import { createTable } from './table.ts';
import { createTrace } from './trace.ts';
import { createWorld } from './world.ts';

/** Who Curfew's parts are to the API server. */
export const CURFEW_USER = 'curfew:';

export type SimulatedParts = ReturnType<typeof createParts>;

/**
 * Throws `UnusableObject`.
 *
 * @param onInstance hears of each change of an instance's state
 */
export function createParts(scenario: Scenario, time: Scheduler) {
  const world = createWorld(scenario, time);
  const { core } = world;
  const trace = createTrace(() => time.now());
  const refusals = createRefusals(time, scenario.end);
  const watch = createInProcessClusterWatch(refusals.guard(core, 'forwarder', `${CURFEW_USER}forwarder`), time);
  refusals.onWatchRefused(isRefused => watch.endWatches(isRefused));
  const isRestored = scenario.steps.some(({ action }) => action.kind === 'restore' && action.age !== undefined);
  const table = createTable(time, isRestored);
  return {
    time,
    world,
    core,
    watch,
    outages: createOutages(time),
    refusals,
    table,
    store: table as IndexedStore,
    cloud: createCloud(time, (providerID, state) => trace.addInstance(providerID, state)),
    reboot: createReboots(core, time),
    launches: createLaunches(),
    lateness: createLateness(time),
    cleanups: createCleanupAnswers(),
    hooks: createHookAnswers(),
    trace,
  };
}
