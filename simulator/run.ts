/** Runs one scenario on virtual time: the real forwarder and functions over in-memory parts, faults from the seed. */
import { addDuration, latest, minutes, seconds, type DurationMs, type EpochMs } from '../shared/domain/time.ts';
import type { ApiServerCore } from '../packages/kube-apiserver/src/types.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import type { BuriedMessage } from '../runtime/system-parts.ts';
import type { StartActor } from './actors/actor.ts';
import { startCloud } from './actors/cloud.ts';
import { startDisruption } from './actors/disruption.ts';
import { startKarpenter, startOrderedKarpenter } from './actors/karpenter.ts';
import { startKarpenter114, startKarpenter115 } from './actors/karpenter-by-itself.ts';
import { startKubelet } from './actors/kubelet.ts';
import { evaluate, unexpectedComplaints, type FinalState, type Verdict } from './expect.ts';
import { planDisturbances } from './faults/disturbances.ts';
import { createClusterBackups } from './cluster-backups.ts';
import { createFaultInjector, type FaultInjector } from './faults/injector.ts';
import { FAULT_MIXES, type FaultKind, type FaultMix, type FaultMixName } from './faults/mix.ts';
import type { Violation } from './invariants/invariant.ts';
import { createInvariantWatcher } from './invariants/watcher.ts';
import { notesOf } from './never-there.ts';
import { recordObjects } from './object-history.ts';
import { warningNotes } from './notes.ts';
import type { Outages } from './outages.ts';
import type { Refusals } from './refusals.ts';
import { createOperations } from './operations.ts';
import { createParts, CURFEW_USER, type SimulatedParts } from './parts.ts';
import { createRandom, type Random } from './random.ts';
import { recordRules } from './rules-in-force.ts';
import {
  ACTING_KARPENTERS,
  GENERATED_ANNOTATION,
  type Actor,
  type Scenario,
  type ScenarioFault,
} from './scenario/scenario.ts';
import { createSimulatedSystem, type Replacements } from './simulated-system.ts';
import { carryOut, describeStep, REFUSED, type StepTargets } from './steps.ts';
import type { TraceEntry } from './trace.ts';
import { createVirtualTime, MAX_ACTIONS_PER_INSTANT, Standstill } from './virtual-time.ts';

const ACTOR_STARTS: Readonly<Record<Actor, StartActor>> = {
  cloud: startCloud,
  kubelet: startKubelet,
  karpenter: startKarpenter,
  disruption: startDisruption,
  'karpenter-1.14': startKarpenter114,
  'karpenter-1.15': startKarpenter115,
};

/** Who disrupts nodes by itself also drains them as it does. */
function startOf(actor: Actor, actors: Scenario['actors']): StartActor {
  const isActing = ACTING_KARPENTERS.some(each => actors.has(each));
  return actor === 'karpenter' && isActing ? startOrderedKarpenter : ACTOR_STARTS[actor];
}

/** Who an actor is to the API server, before its name. */
const ACTOR_USER = 'actor:';

/** API servers send a bookmark about once a minute. */
const BOOKMARK_PERIOD = minutes(1);
/** After the last fault, how long a run goes on: I5 gives the system five minutes, and what it does then takes its time. */
export const CONVERGENCE = minutes(15);

/** What one object may cause at one instant: its events to every function, with what those do, at several tries. */
const ACTIONS_PER_OBJECT = 500;

/** Most actions at one instant; more are a standstill. It grows with the cluster: a hundred thousand Nodes that are there at the start are none. */
export const actionsAtOnce = ({ objects, steps }: Pick<Scenario, 'objects' | 'steps'>): number =>
  MAX_ACTIONS_PER_INSTANT + ACTIONS_PER_OBJECT * (objects.length + steps.length);

export interface RunOptions extends Replacements {
  readonly seed?: number;
  /** A mix by name or of one's own; default `none`. */
  readonly faults?: FaultMixName | FaultMix;
  /** How long each call of a port takes, as outside of simulations; default: what the scenario says, else no time passes between a call and its answer. */
  readonly callDuration?: DurationMs;
  /** Ends the run there; what lasts until the end of the scenario still lasts. Default: its end, with faults some time later. */
  readonly until?: EpochMs;
  /** Ends the run at the first violation: what follows says nothing new. */
  readonly stopAtViolation?: boolean;
  /** More actions than this at one instant go round in circles. Default: some 200,000, by the size of the scenario. */
  readonly maxActionsPerInstant?: number;
  /** Changes what the run is made of, before it begins: a test puts records into the store, or watches what is written to it. */
  readonly parts?: (parts: SimulatedParts) => SimulatedParts;
  /** Records what becomes of each object, which `explain` at an instant needs; default: no. */
  readonly recordsObjects?: boolean;
  /** Called before each action, so often, with the virtual time and that of the run's end. */
  readonly onProgress?: (now: EpochMs, end: EpochMs) => void;
}

export interface RunResult {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly trace: readonly TraceEntry[];
  readonly verdicts: readonly Verdict[];
  /** Refused configurations and policies that no expectation asks for. */
  readonly refusals: readonly TraceEntry[];
  readonly violations: readonly Violation[];
  /** What may not be meant as it is in the file. */
  readonly notes: readonly ScenarioFault[];
  /** Messages that ended in a dead-letter queue. */
  readonly buried: readonly BuriedMessage[];
  /** Faults injected, by kind. */
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly simulated: DurationMs;
  /** The cluster as it stood at the end. */
  readonly core: ApiServerCore;
}

/** Rejects with `UnusableObject` for a scenario that cannot start, else for a bug of the simulator only; whatever Curfew does wrong is in the result. */
export async function runScenario(scenario: Scenario, options: RunOptions = {}): Promise<RunResult> {
  const { seed = 1, faults = 'none' } = options;
  const random = createRandom(seed);
  const mix = typeof faults === 'string' ? FAULT_MIXES[faults] : faults;
  const injector = mix && createFaultInjector(mix, random.stream('calls'));
  const end = options.until ?? (injector === undefined ? scenario.end : addDuration(scenario.end, CONVERGENCE));

  const time = createVirtualTime({
    start: scenario.start,
    maxActionsPerInstant: options.maxActionsPerInstant ?? actionsAtOnce(scenario),
    ...(injector && { tieBreak: tieBreaker(injector, random) }),
  });
  const made = createParts(scenario, time);
  const parts = options.parts?.(made) ?? made;
  const { world, core, cloud, launches, outages, refusals, cleanups, hooks, trace } = parts;
  const buried: BuriedMessage[] = [];
  const deadLetters: BuriedMessage[] = [];
  outages.onBegin('api', error => parts.watch.breakWatches(error));
  const invariants = createInvariantWatcher({
    core,
    scheduler: time,
    instanceState: providerID => cloud.stateOf(providerID),
    instanceCheck: (providerID, check) => cloud.checkOf(providerID, check),
    failsInstance: providerID => cloud.fails(providerID),
    refusedUntil: (resource, object) => refusals.heldUntil(resource, object),
    failsCleanup: rule => cleanups.of(rule).result === 'fail',
    clockTolerance: mix?.clockSkew.ahead ?? seconds(0),
    quietSince: () => quietSince(scenario, outages, refusals, injector),
    isGenerated: scenario.annotations[GENERATED_ANNOTATION] === 'true',
  });

  core.observe(write => {
    const actor = write.user.startsWith(ACTOR_USER) ? write.user.slice(ACTOR_USER.length) : undefined;
    if (actor !== undefined) trace.addActor(write, actor);
    if (actor?.startsWith('karpenter-') === true) launches.written(write);
    if (!write.user.startsWith(CURFEW_USER)) return;
    const by = write.user.slice(CURFEW_USER.length);
    launches.written(write);
    trace.addWrite(write, by);
    invariants.written(write, by);
  });

  if (options.recordsObjects === true) recordObjects(core, trace, scenario);
  recordRules(core, trace);

  const system = createSimulatedSystem(parts, {
    scenario,
    replacements: options,
    time,
    invariants,
    onBuried(message) {
      buried.push(message);
      deadLetters.push(message);
      trace.addBuried(message);
    },
    faults: injector && { injector, random },
    callDuration: options.callDuration ?? scenario.callDuration,
  });

  const heard: StepTargets['system'] = {
    restartForwarder: downtime => system.restartForwarder(downtime),
    publish(envelope) {
      invariants.published({ detailType: envelope['detail-type'], detail: envelope.detail });
      return system.publish(envelope);
    },
  };
  const operations = createOperations({
    scheduler: time,
    backups: createClusterBackups(scenario, { core, scheduler: time, cloud }),
    outages,
    lateness: parts.lateness,
    table: parts.table,
    records: invariants.observeRecords(parts.store.records),
    world,
    system,
    deadLetters,
    onTableRestored: backup => invariants.tableRestored(backup),
    onClusterRestored: () => invariants.clusterRestored(),
  });
  const refusedSteps: ScenarioFault[] = [];
  for (const step of scenario.steps) {
    time.at(step.time, () => {
      const problem = carryOut(step, {
        world,
        cloud,
        launches,
        outages,
        refusals,
        cleanups,
        hooks,
        system: heard,
        operations,
      });
      trace.addStep({ ...describeStep(step), problem });
      if (problem?.startsWith(REFUSED) === true) refusedSteps.push({ place: step.place, message: problem });
    });
  }
  const reboot = (providerID: string): boolean => {
    if (cloud.fails(providerID) || cloud.stateOf(providerID) !== 'running') return false;
    if (scenario.actors.has('cloud')) parts.reboot(providerID);
    return true;
  };
  for (const actor of scenario.actors)
    startOf(actor, scenario.actors)({ core, scheduler: time, cloud, launches, reboot });
  sendBookmarks(core, time);
  if (injector !== undefined) {
    planDisturbances(injector, random, {
      scheduler: time,
      outages,
      restartForwarder: downtime => system.restartForwarder(downtime),
      end: scenario.end,
    });
    time.at(scenario.end, () => injector.stop());
  }
  system.start();
  try {
    await time.runUntil(end, () => {
      options.onProgress?.(time.now(), end);
      return options.stopAtViolation === true && invariants.violations.length > 0;
    });
  } catch (error) {
    if (!(error instanceof Standstill)) throw error;
    invariants.stoodStill(error.message);
  }
  invariants.finish();

  const final: FinalState = {
    object: target => world.get(target),
    instance: providerID => cloud.stateOf(providerID),
  };
  const complaints = unexpectedComplaints(scenario.expectations, trace.entries);
  return {
    scenario,
    seed,
    trace: trace.entries,
    verdicts: evaluate(scenario.expectations, trace.entries, final),
    refusals: complaints.refusals,
    violations: invariants.violations,
    notes: [
      ...scenario.doubts,
      ...warningNotes(scenario, complaints.warnings),
      ...refusedSteps,
      ...notesOf(scenario, trace.entries, { resources: core.resources() }),
    ],
    buried,
    faults: injector?.counts ?? new Map(),
    simulated: seconds((end - scenario.start) / 1000),
    core,
  };
}

/** Since when nothing disturbs Curfew, for what must happen within a time of that (I5); undefined: something does. */
function quietSince(
  { start, end }: Scenario,
  outages: Pick<Outages, 'anyOut' | 'lastEnd'>,
  refusals: Pick<Refusals, 'lastEnd'>,
  injector: FaultInjector | undefined,
): EpochMs | undefined {
  const refusedUntil = refusals.lastEnd();
  if (outages.anyOut() || refusedUntil === undefined || injector?.active === true) return undefined;
  return latest(latest(outages.lastEnd(), refusedUntil), injector === undefined ? start : end);
}

/** Actions of one instant run in any order while faults are on. */
function tieBreaker(injector: FaultInjector, random: Random): () => number {
  const ranks = random.stream('ties');
  return () => (injector.active ? ranks.next() : 0);
}

function sendBookmarks(core: { sendBookmarks(): void }, scheduler: Scheduler): void {
  const send = (): void => {
    core.sendBookmarks();
    scheduler.at(addDuration(scheduler.now(), BOOKMARK_PERIOD), send);
  };
  scheduler.at(addDuration(scheduler.now(), BOOKMARK_PERIOD), send);
}
