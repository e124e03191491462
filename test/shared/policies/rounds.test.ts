import { describe, expect, it } from 'vitest';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import type { WakeUp } from '../../../shared/contract/wake-up.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import { addDuration, seconds, toEpochMs, type EpochMs } from '../../../shared/domain/time.ts';
import { ALL, type RoundRequest, nextTurn, type RoundTargets } from '../../../shared/lifecycle/next-round.ts';
import { roundCodec } from '../../../shared/lifecycle/coalesce.ts';
import { createRounds } from '../../../shared/policies/rounds.ts';

const START = toEpochMs(Date.UTC(2024, 10, 1, 12));
const KEY = { owner: 'repair', id: 'round/settings' } as const;
const at = (offset: number): EpochMs => addDuration(START, seconds(offset));

/** @param nodes whom each round concerns */
function aWorld(nodes = 3) {
  const records = createMemoryRecordStore();
  const rounds: RoundTargets[] = [];
  const sent: { readonly wakeUp: WakeUp; readonly delay: number }[] = [];
  const time = { now: START };
  /** What happens while a round looks whom it concerns. */
  const meanwhile: (() => Promise<void>)[] = [];
  const deps = {
    records,
    wakeUps: { send: async (batch: readonly { wakeUp: WakeUp; delay: number }[]) => void sent.push(...batch) },
    clock: { now: () => time.now, sleep: async () => undefined },
  };
  const aRun = () =>
    createRounds(deps, {
      owner: 'repair',
      name: 'settings',
      spacing: seconds(10),
      async findAffected(targets) {
        rounds.push(targets);
        await meanwhile.pop()?.();
        return Array.from({ length: nodes }, (_, index) => ({ apiVersion: 'v1', kind: 'Node', name: `n${index}` }));
      },
    });
  /** The timer of the record comes, if it is due. */
  const timer = async (offset: number): Promise<void> => {
    time.now = at(offset);
    const wakeTime = (await records.get(KEY))?.nextWakeTime;
    if (wakeTime !== undefined && wakeTime <= time.now) await aRun().timerDue({ wakeTime });
  };
  const nodesWoken = () => sent.filter(({ wakeUp }) => wakeUp.subject.kind === 'Node');
  return { records, rounds, sent, time, meanwhile, aRun, timer, nodesWoken };
}

describe('rounds', () => {
  it('wake whom a change concerns at once', async () => {
    const { aRun, rounds, nodesWoken } = aWorld();
    await aRun().request('default');
    expect(rounds).toEqual([['default']]);
    expect(nodesWoken().map(({ wakeUp, delay }) => [wakeUp.subject.name, delay])).toEqual([
      ['n0', 0],
      ['n1', 0],
      ['n2', 0],
    ]);
  });

  it('take a burst of changes together: one round at once, one for the rest', async () => {
    const { aRun, rounds, timer, records } = aWorld();
    for (let change = 0; change < 50; change++) await aRun().request(`pool-${change % 3}`);
    expect(rounds).toEqual([['pool-0']]);
    await timer(9);
    expect(rounds).toHaveLength(1);
    await timer(10);
    expect(rounds).toEqual([['pool-0'], ['pool-0', 'pool-1', 'pool-2']]);
    await timer(20);
    expect(await records.get(KEY)).toBeUndefined();
  });

  // Forty NodePools came at once: each run wrote its own name, one won each turn, and all but five gave up and said so.
  it('take any number of names that are asked for at the same time, and lose none', async () => {
    const { aRun, rounds, timer } = aWorld();
    await Promise.all(Array.from({ length: 40 }, (_, pool) => aRun().request(`pool-${pool}`)));
    await timer(10);
    expect(rounds).toEqual([['pool-0'], 'all']);
  });

  it('keep the names where few are asked for at the same time', async () => {
    const { aRun, rounds, timer } = aWorld();
    await Promise.all([aRun().request('a'), aRun().request('b')]);
    await timer(10);
    expect(rounds).toEqual([['a'], ['b']]);
  });

  it('lose no change that comes while a round is at work', async () => {
    const { aRun, rounds, timer, meanwhile } = aWorld();
    meanwhile.push(() => aRun().request('late'));
    await aRun().request(undefined);
    await timer(10);
    expect(rounds).toEqual(['all', ['late']]);
  });

  it('make up for a run that dies', async () => {
    const { aRun, rounds, timer, meanwhile, records } = aWorld();
    meanwhile.push(async () => {
      throw new Error('the environment ended');
    });
    await expect(aRun().request('a')).rejects.toThrow('ended');
    await aRun().request('b');
    expect(rounds).toEqual([['a']]);
    await timer(60);
    expect(rounds).toEqual([['a'], ['a', 'b']]);
    await timer(70);
    expect(await records.get(KEY)).toBeUndefined();
  });

  it('tell of both failures, where a round fails and its end cannot be noted down', async () => {
    const { aRun, meanwhile, records } = aWorld();
    meanwhile.push(async () => {
      records.get = () => Promise.reject(new RetryableError('the table is throttled'));
      throw new TerminalError('Invalid', 'the list is refused');
    });
    await expect(aRun().request(undefined)).rejects.toMatchObject({
      name: 'RetryableError',
      message: '2 failures: the list is refused; the table is throttled',
    });
  });

  it('spread what they wake, and begin again only when that is over', async () => {
    const { aRun, rounds, timer, nodesWoken } = aWorld(1_000);
    await aRun().request(undefined);
    await aRun().request(undefined);
    const delays = nodesWoken().map(({ delay }) => delay);
    expect(delays.filter(delay => delay === 0)).toHaveLength(50);
    expect(Math.max(...delays)).toBe(19_000);
    await timer(18);
    expect(rounds).toHaveLength(1);
    await timer(19);
    expect(rounds).toHaveLength(2);
  });

  it('wake a very large cluster within four minutes', async () => {
    const { aRun, nodesWoken } = aWorld(30_000);
    await aRun().request(undefined);
    expect(Math.max(...nodesWoken().map(({ delay }) => delay))).toBe(239_000);
  });
});

const named = (...names: readonly string[]): readonly RoundRequest[] => names.map(name => ({ kind: 'target', name }));

describe('the next turn of a round', () => {
  const idle = { waiting: [], underWay: [], nextTime: at(10), armed: at(10) };
  const busy = { waiting: [], underWay: named('a'), nextTime: at(10), armed: at(60) };
  const many = named(...Array.from({ length: 101 }, (_, index) => `pool-${index}`));

  it.each([
    ['without a record the timer does nothing', undefined, [], 0, { kind: 'nothing' }],
    ['without a record a request begins', undefined, named('a'), 0, { kind: 'begin', requests: named('a') }],
    [
      'soon after a round a request waits',
      idle,
      named('a'),
      5,
      { kind: 'wait', wakeTime: at(10), hasOwnMessage: true },
    ],
    ['later it begins', idle, named('a'), 10, { kind: 'begin', requests: named('a') }],
    ['when the time is over and nothing waits, it is closed', idle, [], 10, { kind: 'close' }],
    [
      'beside a round at work a request waits',
      busy,
      named('b'),
      30,
      { kind: 'wait', wakeTime: at(60), hasOwnMessage: false },
    ],
    [
      'a round that died is made again with what waits',
      busy,
      named('b'),
      60,
      { kind: 'begin', requests: named('a', 'b') },
    ],
    ['everything holds all names', busy, [ALL], 60, { kind: 'begin', requests: [ALL] }],
    ['too many names are everything', { ...idle, waiting: named('x') }, many, 10, { kind: 'begin', requests: [ALL] }],
  ] as const)('%s', (_, held, requested, offset, expected) => {
    expect(nextTurn(held, requested, at(offset))).toMatchObject(expected);
  });

  it('sums up names, and never a message', () => {
    const message = { kind: 'message', text: 'x' } as const;
    const turn = nextTurn({ ...idle, waiting: [message] }, many, at(10));
    expect(turn).toEqual({ kind: 'begin', requests: [ALL, message] });
  });
});

it.each([
  [['a', 'b'], named('a', 'b')],
  ['all', [ALL]],
  [
    ['!x', 'a'],
    [{ kind: 'message', text: 'x' }, ...named('a')],
  ],
  [
    ['*', '!x'],
    [ALL, { kind: 'message', text: 'x' }],
  ],
  [[], []],
] as const)('what is asked for is stored as %j', (stored, waiting) => {
  const state = { waiting: stored, underWay: [], nextTime: 0 };
  const codec = roundCodec('repair');
  expect(codec.parse(state)).toEqual({ waiting, underWay: [], nextTime: 0 });
  expect(codec.toState({ waiting, underWay: [], nextTime: toEpochMs(0) })).toEqual(state);
});

it('the record of a round is refused in another shape', () => {
  expect(() => roundCodec('repair').parse({ waiting: 'some', underWay: [], nextTime: 0 })).toThrow('Invalid input');
});
