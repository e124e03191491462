/** What bounds the calls about pods of a node that is emptied, whoever empties it (I5, I11). */
import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { readPod } from '../../../shared/domain/pod.ts';
import type { Refusals } from '../../../shared/domain/refusal.ts';
import { durationBetween, minutes, seconds, type DurationMs } from '../../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import { createBackoff } from '../../../shared/lifecycle/refusals.ts';
import {
  removePods,
  forgetPods,
  askedEvictionsAfter,
  remainingAfter,
  type AskedEvictions,
  type PodRemoval,
} from '../../../shared/pods/drain-pods.ts';
import { NO_SUCH_POD } from '../../../shared/pods/eviction.ts';
import type { DeleteOutcome, EvictOutcome } from '../../../shared/ports/kubernetes-api.ts';
import { createManualClock, MANUAL_CLOCK_START } from '../../fakes/manual-clock.ts';

type Answer = EvictOutcome | DeleteOutcome | Error;

const podOf = (name: string, labels: Record<string, string> = {}) =>
  readPod({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: name, resourceVersion: '1', labels },
    spec: { nodeName: 'n1', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i' }] },
  } as never);

/** A node with pods that its owner looks at again and again. `answers` are the API server's. */
function emptiedNode(answers: (name: string) => Answer, kind: PodRemoval['kind'] = 'evict', isLast = false) {
  const clock = createManualClock();
  const calls: { readonly name: string; readonly time: DurationMs }[] = [];
  const said: {
    readonly name: string;
    readonly text: string;
    readonly isRepeated: boolean;
    readonly time: DurationMs;
  }[] = [];
  let refusals: Refusals | undefined;
  let held: AskedEvictions | undefined;
  let failedLooks = 0;
  const time = (): DurationMs => durationBetween(MANUAL_CLOCK_START, clock.now());
  const call = async ({ type, name }: { type: { resource: string }; name: string }): Promise<never> => {
    expect(type).toEqual(RESOURCES.Pod);
    calls.push({ name, time: time() });
    const answer = answers(name);
    if (answer instanceof Error) throw answer;
    return answer as never;
  };
  return {
    clock,
    said,
    time,
    calls: (name: string, unit = minutes(1)) => calls.filter(each => each.name === name).map(each => each.time / unit),
    refusals: () => refusals,
    remembered: () => ({ refusals, held }),
    async look(pods: readonly string[], labels?: Record<string, string>) {
      const backoff = createBackoff(clock);
      const views = pods.map(name => podOf(name, labels));
      const results = await removePods(
        {
          clock,
          kubernetes: { evict: call, delete: call, patch: async () => ({ kind: 'notFound' }) },
          reporter: { report: async () => undefined },
        },
        {
          removals: views.map((pod): PodRemoval =>
            kind === 'evict' ? { kind, pod } : { kind, pod, gracePeriodSeconds: 1, overriddenProtection: undefined },
          ),
          requiresUnchanged: true,
          askedEvictions: held,
          now: clock.now(),
          backoff,
          refusals,
          restsOn: [],
          isLast,
          describe: () => ({ decision: 'evict', message: 'evicted' }),
          report: async ({ pod }, text, isRepeated) =>
            void said.push({ name: pod.name, text, isRepeated, time: time() }),
        },
      );
      const left = remainingAfter(failedLooks, results, clock.now());
      ({ failedLooks } = left);
      held = askedEvictionsAfter(held, results, clock.now());
      forgetPods(backoff, refusals, views);
      refusals = backoff.refusalsAfter(refusals);
      return { ...left, answers: results.map(({ answer }) => answer), kinds: results.map(({ answer }) => answer.kind) };
    },
    async lookEvery(step: DurationMs, count: number, pods: readonly string[]) {
      for (let look = 0; look < count; look += 1) {
        await this.look(pods);
        await clock.advance(step);
      }
    },
  };
}

const DENIED = new TerminalError('Forbidden', 'a policy says no');
const BROKEN = new RetryableError('500', { outcomeUnknown: true });
const BLOCKED: Answer = { kind: 'blocked', message: 'its budget is used up' };
const PERMISSION = 'cannot create resource "pods/eviction" in API group ""';
const notAllowed = (name: string): Answer =>
  new RetryableError(`pods "${name}" is forbidden: User "curfew" ${PERMISSION} in the namespace "default"`, {
    reason: 'Forbidden',
    permission: PERMISSION,
  });

describe.each(['evict', 'delete'] as const)('a pod whose %s is refused', kind => {
  it('is tried after 1, 2, 4 … 60 minutes, whatever wakes the run, and that is said once an hour', async () => {
    const node = emptiedNode(() => DENIED, kind);
    await node.lookEvery(seconds(20), 4 * 180, ['web-0']);
    expect(node.calls('web-0')).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
    expect(node.said.map(({ time }) => time / minutes(1))).toEqual([0, 63, 123, 183]);
    expect(node.said.map(({ isRepeated }) => isRepeated)).toEqual([false, true, true, true]);
  });

  it('is tried at once when the pod changes', async () => {
    const node = emptiedNode(() => DENIED, kind);
    await node.lookEvery(minutes(1), 10, ['web-0']);
    await node.look(['web-0'], { moved: 'true' });
    expect(node.calls('web-0')).toEqual([0, 1, 3, 7, 10]);
  });

  it('holds no other pod, and none that comes in its place', async () => {
    const node = emptiedNode(name => (name === 'web-0' ? DENIED : { kind: 'ok' }), kind);
    expect((await node.look(['web-0', 'web-1'])).kinds).toEqual(['refused', `${kind}${kind === 'evict' ? 'ed' : 'd'}`]);
    expect(Object.keys(node.refusals() ?? {})).toEqual([`${kind} pod web-0`]);
    await node.look(['web-2']);
    expect(node.refusals()).toBeUndefined();
  });

  it('is tried within five minutes where the server fails, and said after five', async () => {
    const node = emptiedNode(() => BROKEN, kind);
    await node.lookEvery(seconds(10), 6 * 40, ['web-0']);
    const times = node.calls('web-0');
    expect(Math.max(...times.slice(1).map((each, index) => each - (times[index] ?? 0)))).toBe(5);
    expect(node.said.map(({ time }) => time / minutes(1))).toEqual([5]);
  });

  it('is counted, and said after five minutes, where the answer is that there is no such pod', async () => {
    const node = emptiedNode(() => ({ kind: 'notFound' }), kind);
    expect((await node.look(['web-0'])).kinds).toEqual(['noSuchPod']);
    await node.lookEvery(seconds(30), 2 * 120, ['web-0']);
    expect(node.calls('web-0').length).toBeLessThan(40);
    expect(node.said.map(({ text }) => text)).toEqual([
      expect.stringContaining(NO_SUCH_POD) as string,
      expect.stringContaining(NO_SUCH_POD) as string,
    ]);
    expect((await node.look(['web-0'])).texts).toEqual([`default/web-0: ${NO_SUCH_POD}`]);
  });
});

describe('the last deletion of a pod, at the deadline of its node', () => {
  const look = async (answer: Answer): Promise<number> => {
    const node = emptiedNode(() => answer, 'delete', true);
    await node.look(['web-0']);
    return node.said.length;
  };

  it('is said to fail at once, since nobody waits for another try', async () => {
    expect(await look(BROKEN)).toBe(1);
    expect(await look(DENIED)).toBe(1);
  });

  it('is not said to fail for a pod that has just gone', async () => {
    expect(await look({ kind: 'notFound' })).toBe(0);
  });
});

describe('a permission that is missing', () => {
  const podsOf = (count: number) => Array.from({ length: count }, (_, index) => `web-${index}`);
  const PODS = podsOf(20);

  it('is probed with one pod a minute by a node of hundreds, too', async () => {
    const pods = podsOf(300);
    const node = emptiedNode(notAllowed);
    await node.look(pods);
    await node.clock.advance(minutes(1));
    await node.look(pods);
    expect(pods.flatMap(name => node.calls(name)).filter(minute => minute > 0)).toEqual([1]);
  });

  it('is probed with one pod a minute, and all go when it is there again', async () => {
    let isAllowed = false;
    const node = emptiedNode(name => (isAllowed ? { kind: 'ok' } : notAllowed(name)));
    await node.look(PODS);
    for (let look = 0; look < 5; look += 1) {
      await node.clock.advance(minutes(1));
      await node.look(PODS);
    }
    expect(PODS.flatMap(name => node.calls(name)).toSorted((a, b) => a - b)).toEqual([
      ...PODS.map(() => 0),
      1,
      2,
      3,
      4,
      5,
    ]);
    isAllowed = true;
    await node.clock.advance(minutes(1));
    expect((await node.look(PODS)).kinds).toEqual(PODS.map(() => 'evicted'));
  });

  it('for some pods alone holds none of the others', async () => {
    const allowed = new Set(['web-2']);
    const node = emptiedNode(name => (allowed.has(name) ? { kind: 'ok' } : notAllowed(name)));
    expect((await node.look(['web-0', 'web-1', 'web-2'])).kinds).toEqual(['refused', 'refused', 'evicted']);
    allowed.add('web-1');
    await node.clock.advance(minutes(1));
    await node.look(['web-0', 'web-1']);
    await node.clock.advance(minutes(1));
    expect((await node.look(['web-0', 'web-1'])).kinds).toContain('evicted');
  });
});

describe('an eviction that a budget forbids', () => {
  it('is asked for once in 10 s whatever wakes it, and holds no other pod for it (I11)', async () => {
    const node = emptiedNode(() => BLOCKED);
    for (let second = 0; second < 60; second += 1) {
      const { texts } = await node.look(second < 5 ? ['web-0'] : ['web-0', 'web-1']);
      expect(texts[0]).toBe('default/web-0: its budget is used up');
      await node.clock.advance(seconds(1));
    }
    expect(node.calls('web-0', seconds(1))).toEqual([0, 10, 20, 30, 40, 50]);
    expect(node.calls('web-1', seconds(1))).toEqual([5, 15, 25, 35, 45, 55]);
  });

  it('is no refusal: it is looked at every 10 s, and every minute after the twentieth time', async () => {
    const node = emptiedNode(() => BLOCKED);
    const waits: number[] = [];
    for (let look = 0; look < 25; look += 1) {
      const { retryTime = node.clock.now() } = await node.look(['web-0']);
      waits.push(durationBetween(node.clock.now(), retryTime) / seconds(1));
      await node.clock.advance(durationBetween(node.clock.now(), retryTime));
    }
    expect(waits).toEqual([...Array.from({ length: 20 }, () => 10), 60, 60, 60, 60, 60]);
    expect(node.refusals()).toBeUndefined();
    expect(node.said).toEqual([]);
  });

  it('is told of in the same words at each look, however long the answer is', async () => {
    const node = emptiedNode(() => ({
      kind: 'blocked',
      message: 'a webhook denied the request: '.padEnd(2000, 'no '),
    }));
    const { texts } = await node.look(['web-0']);
    await node.clock.advance(seconds(1));
    expect((await node.look(['web-0'])).texts).toEqual(texts);
  });

  it('is not asked for before the API server wants it', async () => {
    const node = emptiedNode(() => ({ kind: 'blocked', message: 'wait', retryAfterMs: 15_000 }));
    expect((await node.look(['web-0'])).retryTime).toBe(node.clock.now() + 15_000);
  });
});

it('looks at once at a pod that changed, and the second time in a row after 10 s', async () => {
  const node = emptiedNode(() => ({ kind: 'conflict', message: 'changed' }));
  expect((await node.look(['web-0'])).retriesAtOnce).toBe(true);
  const second = await node.look(['web-0']);
  expect(second.retriesAtOnce).toBe(false);
  expect(second.retryTime).toBe(node.clock.now() + 10_000);
});

describe('what is remembered of as many pods as a kubelet runs', () => {
  const pods = (count: number) =>
    Array.from({ length: count }, (_, index) => `3f2504e0-4f89-41d3-9a0c-${String(index).padStart(12, '0')}`);

  it.each([
    ['110 pods, in any script', 110, '\u62d2'],
    ['250 pods, in any script', 250, '\u62d2'],
    ['737 pods', 737, 'x'],
  ])('fits into the 400 KB of a record beside the rest: %s', async (_, count, letter) => {
    const node = emptiedNode(() => new TerminalError('Forbidden', letter.repeat(2000)));
    await node.look(pods(count));
    expect(Buffer.byteLength(JSON.stringify(node.remembered()))).toBeLessThan(320_000);
  });
});
