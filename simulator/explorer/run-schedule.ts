/**
 * One schedule from beginning to end: the world as it was, the runs interleaved as the schedule says, then everything that is still
 * to come, on virtual time, and what the invariants say about it.
 */
import { addDuration, minutes } from '../../shared/domain/time.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { messageOf } from '../../shared/errors.ts';
import type { RecordKey } from '../../shared/ports/record-store.ts';
import type { Violation } from '../invariants/invariant.ts';
import { createVirtualTime } from '../virtual-time.ts';
import { endStateOf, type EndState } from './end-state.ts';
import { createExploredCluster, type ExploredCluster } from './explored-cluster.ts';
import { ExploredWorld, type Past } from './explored-world.ts';
import { footprintOf, INSTANCES, MESSAGES, recordThing } from './footprint.ts';
import {
  ASLEEP,
  createForesight,
  type Course,
  type Foresight,
  type RunEnds,
  type Witnessed,
  type Writes,
} from './foresight.ts';
import type { Death, MadeCall } from './gate.ts';
import { livePast } from './past.ts';
import { stepsOf, type Schedule } from './schedule.ts';
import { runsOf, type Change, type Reconcilers, type RunName, type Situation } from './situation.ts';

/** I5 gives the system five minutes, the checks look once a minute, and a crashed run's message comes back after three. */
const DEFAULT_AFTERMATH = minutes(16);

/** One line of what happened. */
export type Happening =
  { readonly kind: 'call'; readonly call: MadeCall } | { readonly kind: 'change'; readonly change: Change };

/** The outcome of a schedule. */
export interface Ending {
  readonly violations: readonly Violation[];
  readonly endState: EndState;
}

export interface Outcome extends Ending {
  readonly schedule: Schedule;
  readonly course: Course;
  /** What the runs and the world did. */
  readonly interleaved: readonly Happening[];
  /** What came after it; nothing where that was known from another schedule. */
  readonly later: readonly Happening[];
}

export interface Explored {
  /** What the schedule comes to, as far as that is known from those that were carried out. */
  foresee(schedule: Schedule): Course | undefined;
  /** Where one more turn leads to, as `Foresight` has it. */
  readonly after: Foresight['after'];
  /** @param isWhole also what is known to come after the runs */
  run(schedule: Schedule, isWhole?: boolean): Promise<Outcome>;
}

/** @param reconcilers replaces functions, for tests that prove what a mistake would do */
export async function explored(situation: Situation, reconcilers: Reconcilers = {}): Promise<Explored> {
  let { time } = { time: createVirtualTime({ start: situation.start }) };
  const cluster = createExploredCluster({ now: () => time.now() }, situation.objects);
  const open = (start = situation.start): ExploredWorld => {
    const world = new ExploredWorld(cluster, start, { ...situation.reconcilers, ...reconcilers });
    ({ time } = world);
    return world;
  };
  const before = open();
  const past = await livePast(situation, cluster, before);
  before.close();

  const foresight = createForesight(situation);
  const endings = new Map<string, Ending>();
  return {
    foresee: schedule => foresight.foresee(schedule),
    after: foresight.after,
    async run(schedule, isWhole = false) {
      const world = open(past.time);
      try {
        const { interleaved, witnessed, ends } = await interleave({ situation, schedule, cluster, world, past });
        foresight.learn(witnessed, ends);
        const course = foresight.foresee(schedule);
        invariant(course !== undefined, 'a schedule that was carried out can be foreseen: runs are deterministic');
        const known = world.watcher.violations.length > 0 || isWhole ? undefined : endings.get(course.key);
        const later = known === undefined ? await drain(situation, world) : [];
        const ending = known ?? {
          violations: world.watcher.violations,
          endState: endStateOf(cluster.touched(), world.store.all(), world.cloud.states(), situation),
        };
        endings.set(course.key, ending);
        return { schedule, course, interleaved, later, ...ending };
      } finally {
        world.close();
        cluster.restore();
      }
    },
  };
}

/** After it all microtasks have run: each run that could go on has come to its next call, its end, or a sleep. */
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

interface Interleaving {
  readonly situation: Situation;
  readonly schedule: Schedule;
  readonly cluster: ExploredCluster;
  readonly world: ExploredWorld;
  readonly past: Past;
}

/** All runs stand before their first call; then the schedule decides. */
async function interleave({ situation, schedule, cluster, world, past }: Interleaving): Promise<{
  interleaved: readonly Happening[];
  witnessed: readonly Witnessed[];
  ends: RunEnds;
}> {
  const { gate, store } = world;
  const interleaved: Happening[] = [];
  const witnessed: Witnessed[] = [];
  const dead = new Set<RunName>();

  const writesOf = ({ port, method, args }: MadeCall): Writes => {
    const changes = cluster.takeChanges();
    if (port !== 'records' || method === 'get') return changes;
    const { owner, id } = args[0] as RecordKey;
    const record = store.all().find(each => each.owner === owner && each.id === id);
    // What is stored anew under the key of a record that is gone goes on from its version.
    const text = record === undefined ? `gone after ${store.lastVersion({ owner, id })}` : cluster.textOf(record);
    return [...changes, [recordThing(owner, id), text]];
  };
  const call = async (run: RunName, death: Death | undefined): Promise<void> => {
    const made = gate.next(run);
    invariant(made !== undefined, 'a run that waits has a call to make');
    interleaved.push({ kind: 'call', call: made });
    gate.step(run, death);
    await settled();
    if (death !== undefined) dead.add(run);
    const answer = made.error === undefined ? cluster.textOf(made.answer) : `error ${messageOf(made.error)}`;
    witnessed.push({ kind: 'call', run, death, answer, footprint: footprintOf(made), writes: writesOf(made) });
  };
  const change = (index: number): void => {
    const happening = situation.changes?.[index];
    invariant(happening !== undefined, 'a schedule places the changes that there are');
    invariant(happening.ends === undefined || typeof happening.tells !== 'object', 'a change adds in one place');
    interleaved.push({ kind: 'change', change: happening });
    happening.apply(cluster.core);
    const { tells, ends } = happening;
    if (typeof tells === 'object') world.send(tells);
    if (ends !== undefined) world.cloud.setState(ends, 'terminated');
    const sent = typeof tells === 'object' ? { adds: { to: MESSAGES, text: tells.name } } : {};
    const adds = ends === undefined ? sent : { adds: { to: INSTANCES, text: ends } };
    witnessed.push({ kind: 'change', index, writes: cluster.takeChanges(), ...adds });
  };

  await world.takeOver(past);
  world.quietSince = past.time;
  const ids = new Map<RunName, string | undefined>();
  for (const run of runsOf(situation)) {
    const message = situation.messages[run];
    if (message === undefined) continue;
    world.onRun = lifetime => gate.hold(run, lifetime);
    ids.set(run, world.send(message));
    await world.pass(past.time);
  }
  world.onRun = undefined;
  for (const step of stepsOf(schedule, situation, run => gate.next(run) !== undefined)) {
    if (step.kind === 'change') change(step.index);
    else await call(step.run, step.death);
  }

  const howEnded = (run: RunName): string => {
    if (gate.isAsleep(run)) return ASLEEP;
    const left = world.system.waiting().find(({ id }) => id === ids.get(run));
    return left === undefined ? 'done' : `comes again at ${left.visibleTime}, receive ${left.receiveCount}`;
  };
  const ends = Object.fromEntries(
    runsOf(situation)
      .filter(run => !dead.has(run))
      .map(run => [run, howEnded(run)]),
  );
  return { interleaved, witnessed, ends };
}

/** Everything that is still to come. */
async function drain(
  { aftermath = DEFAULT_AFTERMATH }: Situation,
  world: ExploredWorld,
): Promise<readonly Happening[]> {
  const { gate, watcher, time } = world;
  gate.open();
  const made = gate.calls.length;
  await world.pass(addDuration(time.now(), aftermath));
  watcher.finish();
  return gate.calls.slice(made).map(call => ({ kind: 'call', call }));
}
