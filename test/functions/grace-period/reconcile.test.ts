import { beforeEach, describe, expect, it } from 'vitest';
import { hours, minutes, seconds, toDurationMs } from '../../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import { at } from '../../builders/repair.ts';
import {
  createGracePeriodWorld,
  runPod,
  seedNode,
  seedPod,
  seedPolicy,
  type GracePeriodWorld,
} from '../../fakes/grace-period-world.ts';

let world: GracePeriodWorld;
beforeEach(() => {
  world = createGracePeriodWorld();
  seedNode(world);
});

const nodeWrites = (): number => world.writes.filter(({ ref }) => ref.type.resource === 'nodes').length;
const untouched = { doNotDisrupt: undefined, until: undefined };

describe('one pod', () => {
  it('holds the node until the expiry, lets it go at the expiry, and says so once', async () => {
    await runPod(world, 'ci', '4h');
    expect(world.held()).toEqual({ doNotDisrupt: 'true', until: '2024-01-01T14:00:00Z' });
    expect(world.record()?.nextWakeTime).toBe(at('2024-01-01T14:00:00Z'));

    world.setTime(at('2024-01-01T13:59:59Z'));
    await world.podEvent('ci');
    expect(world.held().doNotDisrupt).toBe('true');
    expect(world.said()).toEqual([]);

    world.setTime(at('2024-01-01T14:00:00Z'));
    await world.wakeUp();
    expect(world.held()).toEqual(untouched);
    expect(world.said()).toEqual(['DoNotDisruptGracePeriodElapsed ci']);
    expect(world.events.at(-1)?.about.metadata).toEqual({ namespace: 'prod', name: 'ci', uid: 'uid-ci' });
    expect(world.decisions()).toEqual(['hold', 'release', 'elapsed']);
    expect(world.releases()).toBe(1);

    for (const look of [world.wakeUp, world.nodeEvent, () => world.podEvent('ci')]) await look();
    expect(world.said()).toHaveLength(1);
    expect(world.releases()).toBe(1);
    expect(nodeWrites()).toBe(2);
  });

  it('both annotations go in one patch on exactly the node that was looked at', async () => {
    await runPod(world, 'ci', '4h');
    const { uid, resourceVersion } = world.node().metadata;
    world.advance(hours(4));
    await world.wakeUp();
    const annotations = { 'karpenter.sh/do-not-disrupt': null, 'curfew.dev/protected-until': null };
    expect(world.writes.at(-1)?.body).toEqual({ metadata: { uid, resourceVersion, annotations } });
  });

  it('never touches the annotation of the pod', async () => {
    await runPod(world, 'ci', '4h');
    world.advance(hours(5));
    await world.wakeUp();
    expect(world.core.get(world.podRef('ci')).metadata.annotations).toEqual({ 'karpenter.sh/do-not-disrupt': '4h' });
  });

  it('a plain "true" needs no hold: Karpenter honours it on the pod', async () => {
    await runPod(world, 'db', 'true');
    expect(world.held()).toEqual(untouched);
    expect(world.said()).toEqual([]);
  });

  it('a value that is not valid holds the node without end, and its author is warned once per value', async () => {
    await runPod(world, 'web', '4d');
    await world.podEvent('web');
    expect(world.held()).toEqual({ doNotDisrupt: 'true', until: 'indefinite' });
    expect(world.said()).toEqual(['InvalidDoNotDisruptAnnotation web']);
    expect(world.events[0]).toMatchObject({ type: 'Warning' });
    expect(world.events[0]?.message).toContain('time: unknown unit "d" in duration "4d"');

    world.annotate(world.podRef('web'), { 'karpenter.sh/do-not-disrupt': '0s' });
    await world.podEvent('web');
    expect(world.said()).toEqual(['InvalidDoNotDisruptAnnotation web', 'InvalidDoNotDisruptAnnotation web']);

    world.annotate(world.podRef('web'), { 'karpenter.sh/do-not-disrupt': null });
    await world.podEvent('web');
    expect(world.held()).toEqual(untouched);
    expect(world.record()).toBeUndefined();
  });

  it('without the annotation nothing is written anywhere', async () => {
    await runPod(world, 'web', undefined);
    await world.nodeEvent('Added');
    expect([world.writes, world.storeWrites, world.audit]).toEqual([[], [], []]);
  });

  it('is released early when the pod finishes, is being deleted, or is gone', async () => {
    const ends: readonly ((name: string) => void)[] = [
      name => world.core.patch(world.podRef(name), { type: 'merge', body: { status: { phase: 'Succeeded' } } }, STATUS),
      name => world.core.patch(world.podRef(name), { type: 'merge', body: { status: { phase: 'Failed' } } }, STATUS),
      name => world.core.delete(world.podRef(name), { gracePeriodSeconds: 30 }),
      name => world.core.delete(world.podRef(name), { gracePeriodSeconds: 0 }),
    ];
    for (const [index, end] of ends.entries()) {
      await runPod(world, `job-${index}`, '4h');
      expect(world.held().doNotDisrupt).toBe('true');
      end(`job-${index}`);
      await world.podEvent(`job-${index}`, 'Deleted');
      expect(world.held()).toEqual(untouched);
      expect(world.audit.at(-1)).toMatchObject({ decision: 'release', reason: 'NothingProtected', name: 'n1' });
      expect(world.record()).toBeUndefined();
    }
    expect(world.said()).toEqual([]);
    expect(world.releases()).toBe(ends.length);
  });

  it('a plain "true" in its place lets the node go, which is not disruptable yet', async () => {
    await runPod(world, 'ci', '4h');
    world.annotate(world.podRef('ci'), { 'karpenter.sh/do-not-disrupt': 'true' });
    await world.podEvent('ci');
    expect(world.held()).toEqual(untouched);
    expect(world.audit.at(-1)).toMatchObject({ decision: 'release', reason: 'ProtectedByKarpenter' });
    expect(world.releases()).toBe(0);
  });

  it('an expiry that was slept through is still announced', async () => {
    seedPod(world, 'ci', '4h');
    world.advance(hours(50));
    await world.podEvent('ci', 'Added');
    expect(world.said()).toEqual(['DoNotDisruptGracePeriodElapsed ci']);
    expect(nodeWrites()).toBe(0);
  });

  it('that is not bound to a node protects none', async () => {
    await world.podEvent('pending', 'Added', '');
    expect(world.calls).toEqual([]);
  });
});

const STATUS = { subresource: 'status' } as const;

describe('renewal by editing', () => {
  it('moves the end, and the new end is announced', async () => {
    await runPod(world, 'ci', '1h');
    world.advance(minutes(30));
    world.annotate(world.podRef('ci'), { 'karpenter.sh/do-not-disrupt': '3h' });
    await world.podEvent('ci');
    expect(world.held().until).toBe('2024-01-01T13:00:00Z');

    world.advance(minutes(30));
    await world.wakeUp(); // for the first end: nothing to do
    expect(world.said()).toEqual([]);
    expect(world.record()?.nextWakeTime).toBe(at('2024-01-01T13:00:00Z'));

    world.setTime(at('2024-01-01T13:00:00Z'));
    await world.wakeUp();
    expect(world.said()).toEqual(['DoNotDisruptGracePeriodElapsed ci']);
    expect(world.held()).toEqual(untouched);
  });

  it('after the end protects again, and announces the second end', async () => {
    await runPod(world, 'ci', '1h');
    world.advance(hours(1));
    await world.wakeUp();
    world.annotate(world.podRef('ci'), { 'karpenter.sh/do-not-disrupt': '2h' });
    await world.podEvent('ci');
    expect(world.held().until).toBe('2024-01-01T12:00:00Z');
    world.advance(hours(1));
    await world.wakeUp();
    expect(world.said()).toEqual(['DoNotDisruptGracePeriodElapsed ci', 'DoNotDisruptGracePeriodElapsed ci']);
    expect(world.events[0]?.message).not.toBe(world.events[1]?.message);
  });

  it('from "true" to a duration that is over ends the protection at once (A22)', async () => {
    await runPod(world, 'ci', 'true');
    world.advance(hours(2));
    world.annotate(world.podRef('ci'), { 'karpenter.sh/do-not-disrupt': '1h' });
    await world.podEvent('ci');
    expect(world.held()).toEqual(untouched);
    expect(world.said()).toEqual(['DoNotDisruptGracePeriodElapsed ci']);
  });
});

describe('several pods on a node (A15, X14)', () => {
  it('hold it until the last expiry, and each hears of its own', async () => {
    await runPod(world, 'a', '1m');
    await runPod(world, 'b', '3m');
    await runPod(world, 'c', 'true');
    expect(world.held().until).toBe('2024-01-01T10:03:00Z');

    world.advance(minutes(1));
    await world.wakeUp();
    expect(world.said()).toEqual(['DoNotDisruptGracePeriodElapsed a']);
    expect(world.held().doNotDisrupt).toBe('true');
    expect(world.record()?.nextWakeTime).toBe(at('2024-01-01T10:03:00Z'));

    world.advance(minutes(2));
    await world.wakeUp();
    expect(world.said()).toEqual(['DoNotDisruptGracePeriodElapsed a', 'DoNotDisruptGracePeriodElapsed b']);
    expect(world.held()).toEqual(untouched);
    expect(world.audit.filter(({ decision }) => decision === 'release')).toHaveLength(1);
  });

  it('a hundred that arrive cost one record and no write beyond the first', async () => {
    await runPod(world, 'first', '1h');
    world.storeWrites.length = 0;
    for (let index = 0; index < 100; index++) await runPod(world, `pod-${index}`, '1h');
    expect(world.storeWrites).toEqual([]);
    expect(nodeWrites()).toBe(1);
    expect(world.store.all()).toHaveLength(1);
  });

  it('up to 25 that expire together cost two writes of the record', async () => {
    for (let index = 0; index < 25; index++) await runPod(world, `pod-${index}`, '1h');
    world.storeWrites.length = 0;
    world.advance(hours(1));
    await world.wakeUp();
    expect(world.said()).toHaveLength(25);
    expect(world.storeWrites).toEqual(['put', 'put']);
  });

  it('that expire together are told in one order: record, Node, Events, record', async () => {
    for (let index = 0; index < 3; index++) await runPod(world, `pod-${index}`, '1h');
    world.advance(hours(1));
    world.interfere(undefined);
    await world.wakeUp();
    const look = ['records.get', 'kubernetes.get', 'kubernetes.list', 'kubernetes.get', 'kubernetes.list'];
    const events = ['events.record', 'events.record', 'events.record', 'events.record'];
    expect(world.calls).toEqual([...look, 'records.put', 'kubernetes.patch', ...events, 'records.put', ...look]);
  });

  it('that are more than 25 are told by several runs, each sent for at once by the one before', async () => {
    for (let index = 0; index < 60; index++) await runPod(world, `pod-${index}`, '1h');
    world.advance(hours(1));
    const end = world.now();
    const told: number[] = [];
    for (let runs = 0; runs < 3; runs++) {
      world.wakeUps.length = 0;
      await world.wakeUp(end);
      told.push(world.said().length);
      if (runs < 2) expect(world.wakeUps).toMatchObject([{ wakeUp: { wakeTime: end }, delay: 0 }]);
    }
    expect(told).toEqual([25, 50, 60]);
    expect(world.wakeUps).toEqual([]);
    expect(new Set(world.said())).toHaveLength(60);
    expect(world.held()).toEqual(untouched);
  });

  it('a hundred that start and end together cost two writes for each 25, and three for the record', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `pod-${index}`);
    for (const name of names) await runPod(world, name, '1h');
    world.advance(hours(1));
    for (let runs = 0; runs < 4; runs++) await world.wakeUp();
    for (const name of names) {
      world.core.delete(world.podRef(name), { gracePeriodSeconds: 0 });
      await world.podEvent(name, 'Deleted');
    }
    expect(world.said()).toHaveLength(100);
    expect(world.storeWrites).toEqual([...Array.from({ length: 10 }, () => 'put'), 'delete']);
  });

  it('a lone pod costs five writes in its life', async () => {
    await runPod(world, 'ci', '1h');
    world.advance(hours(1));
    await world.wakeUp();
    world.core.delete(world.podRef('ci'), { gracePeriodSeconds: 0 });
    await world.podEvent('ci', 'Deleted');
    expect(world.storeWrites).toEqual(['put', 'put', 'put', 'put', 'delete']);
  });

  it('the mark goes back when the pod with the latest end leaves', async () => {
    await runPod(world, 'a', '1h');
    await runPod(world, 'b', '3h');
    world.core.delete(world.podRef('b'), { gracePeriodSeconds: 0 });
    await world.podEvent('b', 'Deleted');
    expect(world.held()).toEqual({ doNotDisrupt: 'true', until: '2024-01-01T11:00:00Z' });
  });
});

describe('annotations on the node that are not ours', () => {
  it('stay as they are while pods are protected and after', async () => {
    world.annotate(world.nodeRef, { 'karpenter.sh/do-not-disrupt': 'true' });
    await runPod(world, 'ci', '1h');
    expect(world.held()).toEqual({ doNotDisrupt: 'true', until: undefined });
    world.advance(hours(1));
    await world.wakeUp();
    expect(world.held()).toEqual({ doNotDisrupt: 'true', until: undefined });
    expect(world.said()).toEqual(['DoNotDisruptGracePeriodElapsed ci']);
    expect(nodeWrites()).toBe(0);
  });

  it('when one goes while pods are protected, ours takes its place', async () => {
    world.annotate(world.nodeRef, { 'karpenter.sh/do-not-disrupt': 'true' });
    await runPod(world, 'ci', '1h');
    world.annotate(world.nodeRef, { 'karpenter.sh/do-not-disrupt': null });
    await world.nodeEvent();
    expect(world.held()).toEqual({ doNotDisrupt: 'true', until: '2024-01-01T11:00:00Z' });
  });

  it('one that does not protect is left, and the node says once that its pods are not held', async () => {
    world.annotate(world.nodeRef, { 'karpenter.sh/do-not-disrupt': 'false' });
    await runPod(world, 'ci', '1h');
    await world.podEvent('ci');
    expect(world.held()).toEqual({ doNotDisrupt: 'false', until: undefined });
    expect(world.said()).toEqual(['DoNotDisruptNotHeld n1']);
  });

  it('ours becomes theirs when somebody edits it', async () => {
    await runPod(world, 'ci', '1h');
    world.annotate(world.nodeRef, { 'karpenter.sh/do-not-disrupt': 'false' });
    await world.nodeEvent();
    expect(world.held()).toEqual({ doNotDisrupt: 'false', until: undefined });
    expect(world.decisions()).toContain('disown');
    world.advance(hours(1));
    await world.wakeUp();
    expect(world.held()).toEqual({ doNotDisrupt: 'false', until: undefined });
  });

  it('ours becomes theirs when somebody takes our mark away', async () => {
    await runPod(world, 'ci', '1h');
    world.annotate(world.nodeRef, { 'curfew.dev/protected-until': null });
    await world.nodeEvent();
    world.advance(hours(1));
    await world.wakeUp();
    expect(world.held()).toEqual({ doNotDisrupt: 'true', until: undefined });
  });

  it('ours is put back when somebody removes it while pods are protected', async () => {
    await runPod(world, 'ci', '1h');
    world.annotate(world.nodeRef, { 'karpenter.sh/do-not-disrupt': null });
    await world.nodeEvent();
    expect(world.held()).toEqual({ doNotDisrupt: 'true', until: '2024-01-01T11:00:00Z' });
    expect(world.audit.at(-1)).toMatchObject({ decision: 'hold', reason: 'AnnotationRemoved' });
  });

  it('a mark that was edited is corrected', async () => {
    await runPod(world, 'ci', '1h');
    world.annotate(world.nodeRef, { 'curfew.dev/protected-until': '2099-01-01T00:00:00Z' });
    await world.nodeEvent();
    expect(world.held().until).toBe('2024-01-01T11:00:00Z');
  });

  it('a mark that was left behind goes', async () => {
    world.annotate(world.nodeRef, { 'curfew.dev/protected-until': '2024-01-01T11:00:00Z' });
    await world.nodeEvent();
    expect(world.held()).toEqual(untouched);
  });
});

describe('policy', () => {
  it('a cap ends protection early and tells the pod', async () => {
    seedPolicy(world, 'caps', { protection: { maxDuration: '2h', namespaces: [{ name: 'ml', maxDuration: '72h' }] } });
    await runPod(world, 'ci', '4h');
    expect(world.held().until).toBe('2024-01-01T12:00:00Z');
    expect(world.said()).toEqual(['DoNotDisruptDurationCapped ci']);
    expect(world.events[0]?.message).toContain('limited to 2h0m0s by NodeLifecyclePolicy caps');
    world.advance(hours(2));
    await world.wakeUp();
    expect(world.held()).toEqual(untouched);
    expect(world.said()).toEqual(['DoNotDisruptDurationCapped ci', 'DoNotDisruptGracePeriodElapsed ci']);
  });

  it('compatibility Karpenter counts from the start, announces the end, and ignores what is not valid', async () => {
    seedPolicy(world, 'compatible', { protection: { compatibility: 'Karpenter' } });
    await runPod(world, 'web', 'false');
    expect(world.held()).toEqual(untouched);
    expect(world.events[0]?.message).toContain('the pod is not protected');

    await runPod(world, 'ci', '1h');
    const startTime = '2024-01-01T10:20:00Z';
    world.core.patch(world.podRef('ci'), { type: 'merge', body: { status: { startTime } } }, STATUS);
    await world.podEvent('ci');
    expect(world.held().until).toBe('2024-01-01T11:20:00Z');
    expect(world.said()).toContain('DoNotDisruptUntil ci');
  });

  it('a pod that has not started is protected without end under compatibility Karpenter', async () => {
    seedPolicy(world, 'compatible', { protection: { compatibility: 'Karpenter' } });
    seedPod(world, 'ci', '1h');
    world.core.patch(world.podRef('ci'), { type: 'merge', body: { status: { startTime: null } } }, STATUS);
    await world.podEvent('ci', 'Added');
    expect(world.held().until).toBe('indefinite');
    expect(world.said()).toEqual([]);
  });

  it('warns before the end', async () => {
    seedPolicy(world, 'warned', { protection: { warnBefore: '15m' } });
    await runPod(world, 'ci', '1h');
    expect(world.record()?.nextWakeTime).toBe(at('2024-01-01T10:45:00Z'));
    world.advance(minutes(45));
    await world.wakeUp();
    expect(world.said()).toEqual(['DoNotDisruptGracePeriodExpiring ci']);
    expect(world.record()?.nextWakeTime).toBe(at('2024-01-01T11:00:00Z'));
  });

  it('a policy without a block changes no hold, whatever its mode', async () => {
    seedPolicy(world, 'brake', { mode: 'Observe' });
    await runPod(world, 'ci', '1h');
    expect(world.held().until).toBe('2024-01-01T11:00:00Z');
    expect(world.said()).toEqual([]);
  });

  it('a block in mode Observe says what it would make of a protection, and changes nothing', async () => {
    seedPolicy(world, 'observed', { mode: 'Observe', protection: { maxDuration: '30m' } });
    await runPod(world, 'ci', '1h');
    await runPod(world, 'other', 'true');
    await world.podEvent('ci');
    expect(world.held().until).toBe('2024-01-01T11:00:00Z');
    expect(world.said()).toEqual(['DoNotDisruptObserved ci', 'DoNotDisruptObserved other']);
    expect(world.messages()).toEqual([
      'karpenter.sh/do-not-disrupt: "1h" protects until 2024-01-01T11:00:00Z; in mode Enforce NodeLifecyclePolicy observed would make that until 2024-01-01T10:30:00Z',
      'karpenter.sh/do-not-disrupt: "true" protects without end; in mode Enforce NodeLifecyclePolicy observed would make that until 2024-01-01T10:30:00Z',
    ]);
  });

  it('mode Observe keeps a timer with its record, so that a node whose deletion was missed leaves none behind', async () => {
    seedPolicy(world, 'observed', { mode: 'Observe' });
    await runPod(world, 'ci', '1h');
    await world.podEvent('ci');
    expect(world.record()?.nextWakeTime).toBe(at('2024-01-01T11:00:00Z'));
    world.core.delete(world.nodeRef);
    world.setTime(at('2024-01-01T11:00:00Z'));
    await world.wakeUp();
    expect(world.record()).toBeUndefined();
  });

  it('a change to Observe lets what is held run out', async () => {
    await runPod(world, 'ci', '1h');
    seedPolicy(world, 'observed', { mode: 'Observe' });
    await world.wakeUp();
    expect(world.held().doNotDisrupt).toBe('true');
    world.advance(hours(1));
    await world.wakeUp();
    expect(world.held()).toEqual(untouched);
  });

  it('one that is not valid is reported on itself, and takes no protection away', async () => {
    seedPolicy(world, 'broken', { protection: { maxDuration: '2 hours', maxduration: '1h' } });
    await runPod(world, 'ci', '4h');
    await world.policyEvent('broken');
    expect(world.held().until).toBe('2024-01-01T14:00:00Z');
    expect(world.said()).toEqual(['InvalidProtectionConfiguration broken']);
    expect(world.events[0]?.message).toContain('spec.protection.maxDuration');
  });

  it('a change of policy or pool wakes the nodes with annotated pods, and no others', async () => {
    await runPod(world, 'ci', '4h');
    world.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2', uid: 'uid-n2' } });
    const nodesWoken = () =>
      world.wakeUps.flatMap(({ wakeUp: { subject } }) => (subject.kind === 'Node' ? [subject.name] : []));
    for (const change of [() => world.policyEvent('any'), () => world.poolEvent('default')]) {
      // Changes that follow each other at once are taken together; these do not.
      world.advance(minutes(1));
      world.wakeUps.length = 0;
      await change();
      expect(nodesWoken()).toEqual(['n1']);
    }
    world.advance(minutes(1));
    await world.poolEvent('another');
    expect(nodesWoken()).toEqual(['n1']);
  });
});

describe('nodes', () => {
  it('a node that is gone takes its record along', async () => {
    await runPod(world, 'ci', '4h');
    world.core.delete(world.nodeRef);
    await world.nodeEvent('Deleted');
    expect(world.record()).toBeUndefined();
    expect(world.decisions()).toEqual(['hold', 'close']);
  });

  it('a node of the same name is another node', async () => {
    await runPod(world, 'ci', '4h');
    world.core.delete(world.nodeRef);
    world.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'uid-second' } });
    await world.wakeUp();
    expect(world.record()).toBeUndefined();
    expect(world.held()).toEqual(untouched);
    await world.nodeEvent('Added', 'uid-second');
    expect(world.held().doNotDisrupt).toBe('true');
  });

  it('a change of a node without annotated pods lists no pods', async () => {
    await world.nodeEvent('Modified');
    expect(world.calls).toEqual(['records.get', 'kubernetes.get']);
  });

  it('one with nothing due is looked at once a day', async () => {
    await runPod(world, 'db', 'true');
    expect(world.record()?.nextWakeTime).toBe(at('2024-01-02T10:00:00Z'));
    world.advance(hours(24));
    await world.wakeUp();
    expect(world.record()?.nextWakeTime).toBe(at('2024-01-03T10:00:00Z'));
  });
});

describe('timers', () => {
  it('an end within a quarter of an hour is sent straight to the inbox, as often as it comes early', async () => {
    await runPod(world, 'ci', '10m');
    const end = at('2024-01-01T10:10:00Z');
    expect(world.wakeUps).toEqual([{ wakeUp: expect.objectContaining({ wakeTime: end }), delay: minutes(10) }]);
    world.advance(minutes(9));
    await world.wakeUp(end);
    expect(world.wakeUps.at(-1)?.delay).toBe(minutes(1));
    expect(world.wakeUps).toHaveLength(2);
  });

  it('a pod event and a wake-up for another instant send nothing', async () => {
    await runPod(world, 'ci', '10m');
    await world.podEvent('ci');
    await world.wakeUp(at('2024-01-01T10:00:00Z'));
    expect(world.wakeUps).toHaveLength(1);
  });

  it('measures how late an end was', async () => {
    await runPod(world, 'ci', '10m');
    world.advance(toDurationMs(minutes(10) + 350));
    await world.wakeUp();
    expect(world.metrics).toContainEqual({ name: 'ElapsedLateness', value: 350 });
  });
});

describe('interference', () => {
  /** Runs `act` with each call of it in turn interfered with; answers how many calls there are. */
  async function atEveryCall(
    prepare: () => Promise<void>,
    act: () => Promise<void>,
    meddle: (call: number) => Promise<void>,
  ): Promise<void> {
    await prepare();
    world.interfere(undefined);
    await act();
    const count = world.calls.length;
    expect(count).toBeGreaterThan(3);
    for (let call = 1; call <= count; call++) {
      world = createGracePeriodWorld();
      seedNode(world);
      await prepare();
      await meddle(call);
    }
  }

  const crash = (): never => {
    throw new RetryableError('crashed');
  };
  const dies = async (call: number, side: 'before' | 'after', act: () => Promise<void>): Promise<void> => {
    world.interfere({ call, [side]: crash });
    await act().catch((error: unknown) => expect(error).toBeInstanceOf(RetryableError));
    world.interfere(undefined);
  };

  it.each(['before', 'after'] as const)('an arrival that dies %s any call is made up by the next look', async side => {
    const arrive = async (): Promise<void> => world.podEvent('ci', 'Added');
    await atEveryCall(
      async () => seedPod(world, 'ci', '1h'),
      arrive,
      async call => {
        await dies(call, side, arrive);
        const hasTimer = world.record()?.nextWakeTime === at('2024-01-01T11:00:00Z');
        expect(hasTimer || world.held().doNotDisrupt === undefined, 'a held node has a timer').toBe(true);
        await arrive();
        expect(world.held()).toEqual({ doNotDisrupt: 'true', until: '2024-01-01T11:00:00Z' });
        expect(world.record()?.nextWakeTime).toBe(at('2024-01-01T11:00:00Z'));
      },
    );
  });

  it.each([
    { side: 'before', late: 0 },
    { side: 'after', late: 0 },
    { side: 'before', late: 2 },
    { side: 'after', late: 2 },
  ] as const)('an end that dies $side any call, $late s late, is made up by the sweep', async ({ side, late }) => {
    const look = (): Promise<void> => world.wakeUp(at('2024-01-01T11:00:00Z'));
    await atEveryCall(
      async () => {
        await runPod(world, 'a', '1h');
        await runPod(world, 'b', '1h');
        world.advance(hours(1));
        world.advance(seconds(late));
      },
      look,
      async call => {
        await dies(call, side, look);
        // Either the timer is still due, or it comes soon, or all is done.
        for (let sweeps = 0; sweeps < 3; sweeps++) {
          const { nextWakeTime } = world.record() ?? {};
          if (nextWakeTime !== undefined && nextWakeTime < at('2024-01-01T12:00:00Z')) {
            if (nextWakeTime > world.now()) world.setTime(nextWakeTime);
            await look();
          }
        }
        expect(world.held()).toEqual(untouched);
        expect(new Set(world.said())).toEqual(
          new Set(['DoNotDisruptGracePeriodElapsed a', 'DoNotDisruptGracePeriodElapsed b']),
        );
        // Only a run that dies between Event and record is repeated; the recorder makes one Event of both.
        const ofPods = world.events.filter(({ about }) => about.kind === 'Pod');
        expect(new Set(ofPods.map(({ message }) => message)).size).toBe(1);
      },
    );
  });

  it('two runs at once may say the same, which is one Event, and end as one does', async () => {
    const prepare = async (): Promise<void> => {
      await runPod(world, 'a', '1h');
      await runPod(world, 'b', '2h');
      world.advance(hours(1));
    };
    const look = (): Promise<void> => world.wakeUp();
    await atEveryCall(prepare, look, async call => {
      let entered = false;
      const second = async (): Promise<void> => {
        if (entered) return;
        entered = true;
        world.interfere(undefined);
        await look();
      };
      world.interfere({ call, before: second });
      await look();
      expect(new Set(world.said())).toEqual(new Set(['DoNotDisruptGracePeriodElapsed a']));
      expect(world.said().length).toBeLessThanOrEqual(2);
      expect(world.record()?.nextWakeTime).toBe(at('2024-01-01T12:00:00Z'));
    });
  });

  it('a pod that arrives at any moment of a release is held', async () => {
    const prepare = async (): Promise<void> => {
      await runPod(world, 'a', '1h');
      world.advance(hours(1));
    };
    const look = (): Promise<void> => world.wakeUp();
    await atEveryCall(prepare, look, async call => {
      let entered = false;
      const arrive = async (): Promise<void> => {
        if (entered) return;
        entered = true;
        world.interfere(undefined);
        await runPod(world, 'late', '1h');
      };
      world.interfere({ call, before: arrive });
      await look();
      expect(world.held()).toEqual({ doNotDisrupt: 'true', until: '2024-01-01T12:00:00Z' });
      expect(world.record()?.nextWakeTime).toBe(at('2024-01-01T12:00:00Z'));
      expect(new Set(world.said())).toEqual(new Set(['DoNotDisruptGracePeriodElapsed a']));
    });
  });

  it('a node that changes in between is looked at again (409)', async () => {
    seedPod(world, 'ci', '1h');
    let turns = 0;
    world.interfere({
      call: 'kubernetes.patch',
      before: () => turns++ === 0 && world.annotate(world.nodeRef, { 'example.com/turn': '1' }),
    });
    await world.podEvent('ci', 'Added');
    expect(world.held().until).toBe('2024-01-01T11:00:00Z');
    expect(turns).toBe(2);
  });

  it('a node that never stands still goes back to the queue', async () => {
    seedPod(world, 'ci', '1h');
    let turns = 0;
    world.interfere({
      call: 'kubernetes.patch',
      before: () => world.annotate(world.nodeRef, { 'example.com/turn': String(turns++) }),
    });
    await expect(world.podEvent('ci', 'Added')).rejects.toThrow(RetryableError);
    expect(turns).toBe(5);
    expect(world.record()?.nextWakeTime).toBe(at('2024-01-01T11:00:00Z'));
  });

  it('a node that goes in between takes its record along (404)', async () => {
    seedPod(world, 'ci', '1h');
    world.interfere({ call: 'kubernetes.patch', before: () => world.core.delete(world.nodeRef) });
    await world.podEvent('ci', 'Added');
    expect(world.record()).toBeUndefined();
  });

  it('a patch that may succeed later goes back to the inbox', async () => {
    const error = new RetryableError('429');
    seedPod(world, 'ci', '1h');
    world.interfere({ call: 'kubernetes.patch', before: () => Promise.reject(error) });
    await expect(world.podEvent('ci', 'Added')).rejects.toBe(error);
  });

  it('a patch that is refused for good is one line, tried ever less often, its Event recorded once an hour, and holds nothing else up', async () => {
    let patches = 0;
    const refuse = (): never => {
      patches += 1;
      throw new TerminalError('Invalid', 'admission webhook "no.example.com" denied the request');
    };
    world.interfere({ call: 'kubernetes.patch', before: refuse });
    await runPod(world, 'ci', '4h');
    expect(patches).toBe(1);
    expect(world.said()).toEqual(['NodeChangeRefused n1']);
    expect(world.audit.map(({ decision }) => decision)).toEqual(['refused']);
    expect(world.record()?.nextWakeTime).toBe(at('2024-01-01T10:01:00Z'));

    for (let minute = 0; minute < 240; minute++) {
      world.advance(minutes(1));
      await world.wakeUp();
    }
    // After 1, 2, 4 … 32 minutes, then every hour.
    expect(patches).toBe(9);
    expect(world.said()).toEqual([
      ...Array.from({ length: 4 }, () => 'NodeChangeRefused n1'),
      'DoNotDisruptGracePeriodElapsed ci',
    ]);
    expect(world.audit.filter(({ decision }) => decision === 'refused')).toHaveLength(1);
  });

  it('somebody who keeps removing the annotation meets no patch war', async () => {
    await runPod(world, 'ci', '24h');
    const seen: number[] = [];
    for (let second = 0; second < 3600; second += 10) {
      if (world.held().doNotDisrupt === 'true') {
        seen.push(second);
        world.annotate(world.nodeRef, { 'karpenter.sh/do-not-disrupt': null });
      }
      world.advance(seconds(10));
      await world.nodeEvent();
    }
    // Three times at once, then after 1, 2, 4, 5, 5 … minutes; 360 times without the wait.
    const everyFiveMinutes = Array.from({ length: 10 }, (_, index) => 750 + 300 * index);
    expect(seen).toEqual([0, 10, 20, 30, 90, 210, 450, ...everyFiveMinutes]);
    world.advance(hours(3));
    await world.wakeUp();
    expect(world.held().doNotDisrupt).toBe('true');
  });
});
