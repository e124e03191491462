/**
 * One schedule from beginning to end: the world as it was, the two runs interleaved as the schedule says, then everything that is still
 * to come, on virtual time, and what the invariants say about it.
 */
import type { FunctionName } from '../../shared/contract/names.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../shared/domain/time.ts';
import { invariant, messageOf } from '../../shared/errors.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import type { ReconcilerFactory } from '../../runtime/functions.ts';
import type { Lifetime } from '../../runtime/lifetime.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createSystem, type System } from '../../runtime/system.ts';
import type { ClusterWatch } from '../../shared/ports/cluster-watch.ts';
import { createCloud } from '../cloud.ts';
import type { Violation } from '../invariants/invariant.ts';
import { createInvariantWatcher, type InvariantWatcher } from '../invariants/watcher.ts';
import { createVirtualTime, Standstill, type VirtualTime } from '../virtual-time.ts';
import { endStateOf, type EndState } from './end-state.ts';
import { createExploredCluster, type ExploredCluster } from './explored-cluster.ts';
import { dig, textOf } from '../invariants/reading.ts';
import { changesSomething, footprintOf, INBOXES } from './footprint.ts';
import type { Witnessed } from './foresight.ts';
import { createGate, type Gate, type MadeCall } from './gate.ts';
import { CLUSTER, TICK_MESSAGE } from './messages.ts';
import { stepsOf, type Schedule } from './schedule.ts';
import type { Change, Message, RunName, Situation } from './situation.ts';

const CURFEW_USER = 'curfew:';
/** I5 gives the system five minutes, the checks look once a minute, and a crashed run's message comes back after three. */
export const DEFAULT_AFTERMATH = minutes(16);
/** The sweep looks a little further ahead than a minute. */
const SWEEP_AHEAD = seconds(90);

/** One line of what happened. */
export type Happening =
  { readonly kind: 'call'; readonly call: MadeCall } | { readonly kind: 'change'; readonly change: Change };

export interface Outcome {
  readonly schedule: Schedule;
  readonly happenings: readonly Happening[];
  /** Steps of the two runs and of the world, for foresight. */
  readonly witnessed: readonly Witnessed[];
  readonly violations: readonly Violation[];
  readonly endState: EndState;
}

export type Reconcilers = Readonly<Partial<Record<FunctionName, ReconcilerFactory>>>;

export interface Explored {
  run(schedule: Schedule): Promise<Outcome>;
}

/** What came of a schedule in the end. */
type Ending = Pick<Outcome, 'violations' | 'endState'>;

/** @param reconcilers replaces functions, for tests that prove what a mistake would do */
export function explored(situation: Situation, reconcilers: Reconcilers = {}): Explored {
  let time = createVirtualTime({ start: situation.start });
  const endings = new Map<string, Ending>();
  const cluster = createExploredCluster({ now: () => time.now() }, situation.objects);
  return {
    async run(schedule) {
      time = createVirtualTime({ start: situation.start });
      try {
        return await new ScheduleRun(situation, schedule, cluster, time, reconcilers, endings).run();
      } finally {
        cluster.restore();
      }
    },
  };
}

const NO_FORWARDER: ClusterWatch = {
  list: () => Promise.reject(new Error('there is no forwarder here')),
  resolve: () => Promise.reject(new Error('there is no forwarder here')),
  watch() {
    throw new Error('there is no forwarder here');
  },
};

/** After it all microtasks have run: each run that could go on has come to its next call, its end, or a sleep. */
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

class ScheduleRun {
  readonly #situation: Situation;
  readonly #schedule: Schedule;
  readonly #cluster: ExploredCluster;
  readonly #time: VirtualTime;
  readonly #gate: Gate = createGate();
  readonly #store = createMemoryRecordStore();
  readonly #watcher: InvariantWatcher;
  readonly #system: System;
  readonly #endings: Map<string, Ending>;
  /** What the runs came to that did not end well. */
  readonly #failures: string[] = [];
  readonly #stops: (() => void)[] = [];
  readonly #happenings: Happening[] = [];
  readonly #witnessed: Witnessed[] = [];
  #onRun: ((lifetime: Lifetime) => void) | undefined;
  #quietSince: EpochMs | undefined;

  constructor(
    situation: Situation,
    schedule: Schedule,
    cluster: ExploredCluster,
    time: VirtualTime,
    reconcilers: Reconcilers,
    endings: Map<string, Ending>,
  ) {
    this.#endings = endings;
    this.#situation = situation;
    this.#schedule = schedule;
    this.#cluster = cluster;
    this.#time = time;
    const { core } = cluster;
    const cloud = createCloud(time);
    const watcher = createInvariantWatcher({
      core: {
        ...core,
        resourceVersion: core.resourceVersion,
        watch: (type, options, deliver) => {
          const watch = core.watch(type, options, deliver);
          this.#stops.push(() => watch.stop());
          return watch;
        },
      },
      scheduler: time,
      instanceState: providerID => cloud.stateOf(providerID),
      clockTolerance: seconds(0),
      quietSince: () => this.#quietSince,
    });
    this.#watcher = watcher;
    const observer = core.observe(write => {
      if (write.user.startsWith(CURFEW_USER)) watcher.written(write, write.user.slice(CURFEW_USER.length));
    });
    this.#stops.push(() => observer.stop());
    this.#system = createSystem({
      cluster: CLUSTER,
      scheduler: time,
      kubernetes: by => createInProcessKubernetesApi(core, `${CURFEW_USER}${by}`),
      watch: NO_FORWARDER,
      records: watcher.observeRecords(this.#store),
      dueIndex: this.#store,
      instances: () => cloud.instances(() => undefined),
      audit: { write: record => watcher.audited(record) },
      reconcilers,
      hooks: {
        onRun: (name, lifetime) => {
          watcher.runStarted(name, lifetime);
          this.#onRun?.(lifetime);
        },
        onFailed: (name, error) => {
          this.#failures.push(`${name}: ${messageOf(error)}`);
          watcher.failed(name, error);
        },
        onBuried: ({ function: name, reason, explanation }) => watcher.buried(name, reason, explanation),
        environment: (ports, name, lifetime) => this.#gate.around(watcher.observe(ports, lifetime), name, lifetime),
      },
    });
  }

  async run(): Promise<Outcome> {
    try {
      this.#tick();
      await this.#prepare();
      this.#quietSince = this.#time.now();
      await this.#interleave();
      const effects = this.#effects();
      const known = this.#watcher.violations.length === 0 ? this.#endings.get(effects) : undefined;
      if (known === undefined) {
        await this.#drain();
        this.#watcher.finish();
      }
      const ending = known ?? {
        violations: this.#watcher.violations,
        endState: endStateOf(this.#cluster.touched(), this.#store.all(), this.#situation.volatile ?? []),
      };
      this.#endings.set(effects, ending);
      return { schedule: this.#schedule, happenings: this.#happenings, witnessed: this.#witnessed, ...ending };
    } finally {
      for (const stop of this.#stops) stop();
    }
  }

  async #prepare(): Promise<void> {
    for (const earlier of this.#situation.earlier ?? []) {
      switch (earlier.kind) {
        case 'change':
          earlier.change.apply(this.#cluster.core);
          break;
        case 'wait':
          if (earlier.unattended === true) this.#onRun = lifetime => lifetime.end();
          await this.#pass(addDuration(this.#time.now(), earlier.duration));
          this.#onRun = undefined;
          break;
        case 'dieBefore':
          this.#gate.dieBefore(earlier.description);
          break;
        case 'message':
          this.#send(earlier.message);
          await this.#pass(this.#time.now());
      }
    }
  }

  #send({ to, body }: Message): void {
    this.#system.send(to, body(this.#time.now()));
  }

  /** Both runs stand before their first call; then the schedule decides. */
  async #interleave(): Promise<void> {
    const { A, B } = this.#situation.messages;
    for (const [name, message] of [
      ['A', A],
      ['B', B],
    ] as const) {
      this.#onRun = lifetime => this.#gate.hold(name, lifetime);
      this.#send(message);
      await this.#pass(this.#time.now());
    }
    this.#onRun = undefined;
    const isWaiting = (run: RunName): boolean => this.#gate.next(run) !== undefined;
    for (const step of stepsOf(this.#schedule, this.#situation, isWaiting)) {
      if (step.kind === 'change') this.#change(step.index);
      else {
        const { run, death } = step;
        const call = this.#gate.next(run);
        invariant(call !== undefined, 'a run that waits has a call to make');
        this.#happenings.push({ kind: 'call', call });
        this.#witnessed.push({ kind: 'call', run, footprint: footprintOf(call), death });
        this.#gate.step(run, death);
        await settled();
      }
    }
  }

  #change(index: number): void {
    const change = this.#situation.changes?.[index];
    if (change === undefined) return;
    this.#happenings.push({ kind: 'change', change });
    const writes = this.#cluster.resourcesTouchedBy(() => change.apply(this.#cluster.core));
    const tellsAnother = typeof change.tells === 'object';
    this.#witnessed.push({ kind: 'change', index, writes: [...writes, ...(tellsAnother ? [INBOXES] : [])] });
    if (typeof change.tells === 'object') this.#send(change.tells);
  }

  /**
   * All that was changed, in order, and how the runs ended: what comes afterwards follows from it. What a function remembers between
   * two messages is left out.
   */
  #effects(): string {
    const effects = this.#happenings.map(happening => {
      if (happening.kind === 'change') return happening.change.name;
      const { call } = happening;
      if (call.died === 'before' || !changesSomething(footprintOf(call)))
        return call.died === undefined ? '' : `${call.run} dies`;
      const answer = call.error === undefined ? textOf(dig(call.answer, 'kind')) : messageOf(call.error);
      return `${call.run} ${call.port} ${call.method} ${JSON.stringify(call.args, withoutVersions)} ${answer} ${call.died}`;
    });
    return [...effects.filter(effect => effect !== ''), ...this.#failures].join('\n');
  }

  async #drain(): Promise<void> {
    const { aftermath = DEFAULT_AFTERMATH } = this.#situation;
    this.#gate.open();
    const made = this.#gate.calls.length;
    await this.#pass(addDuration(this.#time.now(), aftermath));
    for (const call of this.#gate.calls.slice(made)) this.#happenings.push({ kind: 'call', call });
  }

  /** The minute ticks, as far as they have something to do. */
  #tick(): void {
    const next = addDuration(minuteOf(this.#time.now()), minutes(1));
    this.#time.at(next, () => {
      const horizon = addDuration(next, SWEEP_AHEAD);
      const isDue = this.#store.all().some(({ nextWakeTime }) => nextWakeTime !== undefined && nextWakeTime <= horizon);
      if (isDue) this.#send(TICK_MESSAGE);
      this.#tick();
    });
  }

  /** Lets time go on. */
  async #pass(end: EpochMs): Promise<void> {
    try {
      await this.#time.runUntil(end);
    } catch (error) {
      invariant(error instanceof Standstill, messageOf(error));
      this.#watcher.stoodStill(error.message);
    }
  }
}

const withoutVersions = (key: string, value: unknown): unknown => (key === 'resourceVersion' ? undefined : value);

const minuteOf = (time: EpochMs): EpochMs => addDuration(time, seconds(-(time % 60_000) / 1000));
