import { describe, expect, it } from 'vitest';
import { createEventsOfOthers, LIST_COUNTS_FOR } from '../../../functions/grace-period/events-of-others.ts';
import type { Announcement } from '../../../functions/grace-period/announcements.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { createCluster } from '../../../simulator/world.ts';
import { addDuration, seconds, toExactTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { at } from '../../builders/repair.ts';

const END = at('2024-01-01T14:00:00Z');

function aWorld() {
  let now = END;
  let lists = 0;
  const core = createCluster({ now: () => now });
  const api = createInProcessKubernetesApi(core, 'grace-period');
  const kubernetes: typeof api = { ...api, list: (...query) => ((lists += 1), api.list(...query)) };
  const clock = { now: () => now, sleep: () => Promise.reject(new Error('nothing sleeps here')) };
  return {
    others: createEventsOfOthers({ kubernetes, clock }),
    lists: () => lists,
    at: (instant: EpochMs) => (now = instant),
    karpenterSays: (pod: string, time: EpochMs, namespace = 'prod') =>
      core.seed({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace, name: `${pod}.${time}` },
        reason: 'DoNotDisruptGracePeriodElapsed',
        involvedObject: { kind: 'Pod', namespace, name: pod, uid: `uid-${pod}` },
        source: { component: 'karpenter' },
        lastTimestamp: toExactTimestamp(time),
      }),
  };
}

const ended = (name: string, end: EpochMs = END, namespace = 'prod'): Announcement => ({
  topic: 'elapsed',
  key: toExactTimestamp(end),
  message: '',
  about: { kind: 'Pod', namespace, name, uid: `uid-${name}` },
});

describe('what Karpenter has said', () => {
  it('is that of this pod, since this end', async () => {
    const { others, karpenterSays } = aWorld();
    karpenterSays('said', END);
    karpenterSays('renewed', addDuration(END, seconds(-2)));
    karpenterSays('elsewhere', END, 'other');
    const said = ended('said');
    const all = [said, ended('renewed'), ended('unsaid'), ended('elsewhere')];
    expect([...(await others.saidOf(all))]).toEqual([said]);
  });

  it('is asked once for all that ended before, and anew for what ended later or after a while', async () => {
    const { others, lists, at: setTime } = aWorld();
    await others.saidOf([ended('a'), ended('b', addDuration(END, seconds(-1)))]);
    await others.saidOf([ended('c')]);
    expect(lists()).toBe(1);
    setTime(addDuration(END, seconds(2)));
    await others.saidOf([ended('d', addDuration(END, seconds(1))), ended('e')]);
    expect(lists()).toBe(2);
    setTime(addDuration(END, LIST_COUNTS_FOR));
    await others.saidOf([ended('f')]);
    expect(lists()).toBe(2);
    setTime(addDuration(addDuration(END, LIST_COUNTS_FOR), seconds(2)));
    await others.saidOf([ended('g')]);
    expect(lists()).toBe(3);
    await others.saidOf([ended('h', END, 'other')]);
    expect(lists()).toBe(4);
  });

  it('is not asked about anything but ends', async () => {
    const { others, lists } = aWorld();
    await others.saidOf([{ ...ended('a'), topic: 'invalid' }]);
    expect(lists()).toBe(0);
  });
});
