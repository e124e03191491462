import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seconds, toEpochMs } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { createGracePeriodWorld, seedNode, seedPod, type GracePeriodWorld } from '../../fakes/grace-period-world.ts';

/** What the values mean, written down apart from the code under test; milliseconds. */
const VALUES: Readonly<Record<string, number | 'true' | 'invalid'>> = {
  true: 'true',
  '4d': 'invalid',
  '1m': 60_000,
  '90s': 90_000,
  '2m': 120_000,
  '1.5s': 1500,
  '1h': 3_600_000,
};

interface ModelPod {
  readonly created: number;
  value: string | undefined;
}
type Owner = 'nobody' | 'ours' | 'theirs';

/** What must be true of the node, kept beside the world. */
interface Model {
  readonly pods: Map<string, ModelPod>;
  owner: Owner;
  cleared: number;
  /** Value of an annotation that is not ours. */
  theirs: string;
  /** `pod end` of every end that was reached while the pod was there, and that was later than those before it. */
  readonly ended: Set<string>;
  /** The last end of each pod, as long as it is annotated: that it has ended earlier is no news. */
  readonly lastEnds: Map<string, number>;
  /** Pods that lost their annotation: when they get it again, an end that is over is announced again. */
  readonly forgotten: Set<string>;
}

const endOf = ({ created, value }: ModelPod): number | undefined => {
  const meaning = value === undefined ? undefined : VALUES[value];
  return typeof meaning === 'number' ? created + meaning : undefined;
};

/** Until when the node is to be held; undefined: not at all. */
function heldUntil({ pods }: Model, now: number): number | undefined {
  const ends = [...pods.values()].map(pod =>
    pod.value !== undefined && VALUES[pod.value] === 'invalid' ? Infinity : (endOf(pod) ?? -Infinity),
  );
  const latest = Math.max(-Infinity, ...ends);
  return latest > now ? latest : undefined;
}

function markOf(until: number): string {
  return until === Infinity ? 'indefinite' : new Date(until).toISOString().replace('.000Z', 'Z');
}

const pod = fc.integer({ min: 0, max: 3 }).map(index => `pod-${index}`);
const value = fc.constantFrom(...Object.keys(VALUES));
const operation = fc.oneof(
  fc.record({ kind: fc.constant('arrive' as const), pod, value }),
  fc.record({ kind: fc.constant('edit' as const), pod, value: fc.option(value, { nil: undefined }) }),
  fc.record({ kind: fc.constant('finish' as const), pod }),
  fc.record({ kind: fc.constant('delete' as const), pod }),
  fc.record({ kind: fc.constant('annotateNode' as const), value: fc.constantFrom('true', 'false') }),
  fc.record({ kind: fc.constant('clearNode' as const) }),
  fc.record({ kind: fc.constant('takeMark' as const) }),
  fc.record({ kind: fc.constant('pass' as const), time: fc.constantFrom(500, 1000, 29_500, 60_000, 3_600_000) }),
);
type Operation = typeof operation extends fc.Arbitrary<infer Kind> ? Kind : never;
/** How the news of an operation reach the function. */
const delivery = fc.constantFrom('once', 'twice', 'at the same time', 'late');

const KEY = 'karpenter.sh/do-not-disrupt';
const MARK = 'curfew.dev/protected-until';

/** A run that ends at its n-th call, before or after it happened. */
const crash = fc.option(
  fc.record({ call: fc.integer({ min: 1, max: 14 }), side: fc.constantFrom('before' as const, 'after' as const) }),
  { nil: undefined },
);
type Crash = typeof crash extends fc.Arbitrary<infer Kind> ? Kind : never;

/** Delivers a message, and again when its run crashed, as the inbox does. */
async function deliver(world: GracePeriodWorld, message: () => Promise<void>, ends: Crash): Promise<void> {
  const die = (): never => {
    throw new RetryableError('crashed');
  };
  world.interfere(ends && { call: ends.call, [ends.side]: die });
  let crashed = false;
  try {
    await message();
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error;
    crashed = true;
  }
  world.interfere(undefined);
  if (crashed) await message();
}

/** Carries out the operation in the world and in the model; answers the event that tells of it. */
function perform(world: GracePeriodWorld, model: Model, step: Operation): () => Promise<void> {
  const { pods } = model;
  const now = world.now();
  switch (step.kind) {
    case 'arrive':
      if (pods.has(step.pod)) return async () => undefined;
      seedPod(world, step.pod, step.value);
      pods.set(step.pod, { created: Math.floor(now / 1000) * 1000, value: step.value });
      model.lastEnds.delete(step.pod);
      return () => world.podEvent(step.pod, 'Added');
    case 'edit': {
      const edited = pods.get(step.pod);
      if (edited === undefined) return async () => undefined;
      world.annotate(world.podRef(step.pod), { [KEY]: step.value ?? null });
      edited.value = step.value;
      if (step.value === undefined) {
        model.forgotten.add(step.pod);
        model.lastEnds.delete(step.pod);
      }
      return () => world.podEvent(step.pod);
    }
    case 'finish':
    case 'delete':
      if (!pods.delete(step.pod)) return async () => undefined;
      if (step.kind === 'delete') world.core.delete(world.podRef(step.pod), { gracePeriodSeconds: 0 });
      else {
        const body = { status: { phase: 'Succeeded' } };
        world.core.patch(world.podRef(step.pod), { type: 'merge', body }, { subresource: 'status' });
        // The name is free again for the model; the pod itself is another's business.
        world.core.delete(world.podRef(step.pod), { gracePeriodSeconds: 0 });
      }
      return () => world.podEvent(step.pod, 'Deleted');
    case 'annotateNode':
      // The value that stands there already changes nothing that anyone could see.
      if (model.owner === 'ours' && step.value === 'true') return async () => undefined;
      world.annotate(world.nodeRef, { [KEY]: step.value });
      model.owner = 'theirs';
      model.theirs = step.value;
      return () => world.nodeEvent();
    case 'clearNode':
      // From the fourth time on it is a quarrel, which waits: see the test of the patch war.
      model.cleared += 1;
      if (model.cleared > 3) return () => world.nodeEvent();
      world.annotate(world.nodeRef, { [KEY]: null });
      if (model.owner === 'theirs') model.owner = 'nobody';
      return () => world.nodeEvent();
    case 'takeMark':
      world.annotate(world.nodeRef, { [MARK]: null });
      if (model.owner === 'ours') [model.owner, model.theirs] = ['theirs', 'true'];
      return () => world.nodeEvent();
    case 'pass':
      return async () => undefined;
  }
}

/** Moves on to `end`, stopping at every timer, as the inbox would. */
async function passTime(world: GracePeriodWorld, model: Model, end: number, ends?: Crash): Promise<void> {
  for (let timers = 0; timers < 500; timers++) {
    const due = world.record()?.nextWakeTime;
    if (due === undefined || due > end) break;
    if (due > world.now()) world.setTime(due);
    await deliver(world, () => world.wakeUp(due), ends);
    expectHeld(world, model);
  }
  world.setTime(toEpochMs(end));
}

/** The node is what it must be at this instant. */
function expectHeld(world: GracePeriodWorld, model: Model): void {
  const now = world.now();
  for (const [name, each] of model.pods) {
    const end = endOf(each);
    if (end === undefined || end > now || end < (model.lastEnds.get(name) ?? -Infinity)) continue;
    model.lastEnds.set(name, end);
    model.ended.add(`${name} ${markOf(end)}`);
  }
  const until = heldUntil(model, now);
  if (model.owner !== 'theirs') model.owner = until === undefined ? 'nobody' : 'ours';
  const expected =
    model.owner === 'theirs'
      ? { doNotDisrupt: model.theirs, until: undefined }
      : { doNotDisrupt: until && 'true', until: until && markOf(until) };
  expect(world.held()).toEqual(expected);
}

/** `pod end` of the pods that are there. */
function endsOf({ pods }: Model): ReadonlySet<string> {
  const ends = [...pods].map(([name, each]) => [name, endOf(each)] as const);
  return new Set(ends.flatMap(([name, end]) => (end === undefined ? [] : [`${name} ${markOf(end)}`])));
}

/** `pod end` of every end that was announced. */
function announcedEnds(world: GracePeriodWorld): string[] {
  return world.events
    .filter(({ reason }) => reason === 'DoNotDisruptGracePeriodElapsed')
    .map(({ about, message }) => `${about.metadata.name} ${message.split(' protects it until ')[1]}`);
}

const newModel = (): Model => ({
  pods: new Map(),
  owner: 'nobody',
  cleared: 0,
  theirs: '',
  ended: new Set(),
  lastEnds: new Map(),
  forgotten: new Set(),
});

describe('any history of a node', () => {
  it('the node is held exactly while it must be, and every end is announced once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(operation, delivery), { minLength: 1, maxLength: 25 }), async history => {
        const world = createGracePeriodWorld();
        seedNode(world);
        const model = newModel();
        for (const [step, how] of history) {
          const tell = perform(world, model, step);
          await tell();
          if (how === 'twice') await tell();
          if (how === 'at the same time') await Promise.all([tell(), world.wakeUp(), tell()]);
          if (step.kind === 'pass') await passTime(world, model, world.now() + step.time);
          if (how === 'late') await world.nodeEvent();
          expectHeld(world, model);
        }
        await passTime(world, model, world.now() + seconds(7200));
        expectHeld(world, model);

        const announced = announcedEnds(world);
        expect(new Set(announced)).toEqual(model.ended);
        const repeated = announced.filter((end, place) => announced.indexOf(end) !== place);
        expect(repeated.filter(end => !model.forgotten.has(end.split(' ', 1)[0] ?? ''))).toEqual([]);
        // Nothing is left behind once nobody is annotated.
        for (const name of model.pods.keys()) world.core.delete(world.podRef(name), { gracePeriodSeconds: 0 });
        await world.podEvent('pod-0', 'Deleted');
        expect(world.record()).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it('with runs that crash at any call, the node is held all the same, and no end goes unsaid', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(operation, crash), { minLength: 1, maxLength: 25 }), async history => {
        const world = createGracePeriodWorld();
        seedNode(world);
        const model = newModel();
        for (const [step, ends] of history) {
          await deliver(world, perform(world, model, step), ends);
          if (step.kind === 'pass') await passTime(world, model, world.now() + step.time, ends);
          expectHeld(world, model);
        }
        await passTime(world, model, world.now() + seconds(7200));
        expectHeld(world, model);

        const announced = new Set(announcedEnds(world));
        expect([...announced].filter(end => !model.ended.has(end))).toEqual([]);
        const unsaid = [...model.ended].filter(end => !announced.has(end));
        // A pod that goes within the half minute in which a crashed run still counts as under way has no use for its Event.
        expect(unsaid.filter(end => endsOf(model).has(end))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
