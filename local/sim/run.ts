/** Runs one scenario on virtual time: the real forwarder and functions over in-memory parts. */
import { createMemoryRecordStore } from '../memory/record-store.ts';
import { addDuration, minutes } from '../../shared/domain/time.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import { createInProcessClusterWatch } from '../in-process/cluster-watch.ts';
import { createInProcessKubernetesApi } from '../in-process/kubernetes-api.ts';
import type { ApiServerCore } from '../apiserver/types.ts';
import type { ReconcilerFactory } from '../functions.ts';
import type { Scheduler } from '../scheduler.ts';
import { createSystem, type BuriedMessage } from '../system.ts';
import type { StartActor } from './actors/actor.ts';
import { startCloud } from './actors/cloud.ts';
import { startDisruption } from './actors/disruption.ts';
import { startKarpenter } from './actors/karpenter.ts';
import { startKubelet } from './actors/kubelet.ts';
import { createCleanupAnswers } from './cleanups.ts';
import { createCloud } from './cloud.ts';
import { evaluate, type FinalState, type Verdict } from './expect.ts';
import { createOutages } from './outages.ts';
import type { Actor, Scenario } from './scenario/scenario.ts';
import { carryOut, describeStep } from './steps.ts';
import { createTimeline, type TimelineEntry } from './timeline.ts';
import { createTrace, type TraceEntry } from './trace.ts';
import { createVirtualTime } from './virtual-time.ts';
import { createWorld } from './world.ts';

const ACTOR_STARTS: Readonly<Record<Actor, StartActor>> = {
  cloud: startCloud,
  kubelet: startKubelet,
  karpenter: startKarpenter,
  disruption: startDisruption,
};

/** Who Curfew's parts are to the API server. */
const CURFEW_USER = 'curfew:';
/** API servers send a bookmark about once a minute. */
const BOOKMARK_PERIOD = minutes(1);

export interface RunOptions {
  /** Replaces functions, for tests that prove what a mistake would do. */
  readonly reconcilers?: Readonly<Partial<Record<FunctionName, ReconcilerFactory>>>;
}

export interface RunResult {
  readonly scenario: Scenario;
  readonly trace: readonly TraceEntry[];
  readonly timeline: readonly TimelineEntry[];
  readonly verdicts: readonly Verdict[];
  /** Messages that ended in a dead-letter queue. */
  readonly buried: readonly BuriedMessage[];
  /** The cluster as it stood at the end. */
  readonly core: ApiServerCore;
}

/** Rejects for a bug only: in the simulator, or one that a function reported. */
export async function runScenario(scenario: Scenario, options: RunOptions = {}): Promise<RunResult> {
  const time = createVirtualTime({ start: scenario.start });
  const world = createWorld(scenario, time);
  const { core } = world;
  const cloud = createCloud(time);
  const outages = createOutages(time);
  const cleanups = createCleanupAnswers();
  const timeline = createTimeline(() => time.now());
  const trace = createTrace(
    () => time.now(),
    entry => timeline.addTrace(entry),
  );
  const buried: BuriedMessage[] = [];
  const records = createMemoryRecordStore();
  const watch = createInProcessClusterWatch(core, time);
  outages.onBegin('api', error => watch.breakWatches(error));

  core.observe(write => {
    if (write.user.startsWith(CURFEW_USER)) trace.addWrite(write, write.user.slice(CURFEW_USER.length));
    else timeline.addWrite(write);
  });

  const system = createSystem({
    cluster: 'simulated',
    scheduler: time,
    kubernetes: by => outages.guard('api', createInProcessKubernetesApi(core, `${CURFEW_USER}${by}`)),
    watch: outages.guardWatch(watch),
    records: outages.guard('store', records),
    dueIndex: outages.guard('store', records),
    instances: by =>
      cloud.instances((verb, providerID) => trace.addCall({ by, verb, resource: 'instances', name: providerID })),
    audit: { write: record => trace.addAudit(record) },
    ...(options.reconcilers && { reconcilers: options.reconcilers }),
    hooks: {
      onBuried: message => buried.push(message),
      forwarder: ports => ({ ...ports, bus: outages.guard('bus', ports.bus) }),
      environment: ports => ({ ...ports, bus: outages.guard('bus', ports.bus) }),
    },
  });

  for (const step of scenario.steps) {
    time.at(step.time, () => {
      const problem = carryOut(step, { world, cloud, outages, cleanups, system });
      timeline.addStep(describeStep(step), problem);
    });
  }
  for (const actor of scenario.actors) ACTOR_STARTS[actor]({ core, scheduler: time, cloud });
  sendBookmarks(core, time);
  system.start();
  await time.runUntil(scenario.end);

  const final: FinalState = {
    object: target => world.get(target),
    instance: providerID => cloud.stateOf(providerID),
  };
  return {
    scenario,
    trace: trace.entries,
    timeline: timeline.entries,
    verdicts: evaluate(scenario.expectations, trace.entries, final),
    buried,
    core,
  };
}

function sendBookmarks(core: { sendBookmarks(): void }, scheduler: Scheduler): void {
  const send = (): void => {
    core.sendBookmarks();
    scheduler.at(addDuration(scheduler.now(), BOOKMARK_PERIOD), send);
  };
  scheduler.at(addDuration(scheduler.now(), BOOKMARK_PERIOD), send);
}
