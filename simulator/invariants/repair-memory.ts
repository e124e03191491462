/**
 * I12 for repair: an act whose allowance still counts it and whose incident goes on, and what the guards of a pool remember, whatever is
 * switched off or edited in between.
 */
import type { NewRecord } from '../../shared/ports/record-store.ts';
import { followShown } from './shown.ts';
import type { Fact, MakeMemory } from './stored-fact.ts';
import { dig, fieldsOf, listOf, poolNameOf } from './reading.ts';
import { poolOf } from './node-pool.ts';
import { repairBlockFor } from './policy-oracle.ts';
import { profileIn } from './ladder-past.ts';
import { repairConditionsOf, unhealthyConditionsOf } from './repair-conditions.ts';

const DAY = 24 * 3_600_000;
const MINUTE = 60_000;
/** From the decision that a fact may go until that is stored. */
const SLACK = 30_000;

const isOfNode = (key: string): boolean => key.startsWith('repair/node/');
const isOfPool = (key: string): boolean => key.startsWith('repair/pool/') || key === 'repair/cluster';

/** The acts of the last day, by which the next ones are allowed. That of an attempt under way may be called off. */
export const actsOfRepair: MakeMemory = ({ mirror, now, clockTolerance }) => ({
  isIn: isOfNode,
  factsIn({ id: recordId, state }) {
    const uid = recordId.slice('node/'.length);
    const open = fieldsOf(dig(state, 'attempt'));
    return new Map(
      listOf(dig(state, 'acts')).map((act): [string, Fact] => {
        const { action, key, time } = fieldsOf(act);
        const referrer = (): string | undefined => {
          if ((open['key'] === key && open['time'] === time) || !mirror.all('nodes').has(uid)) return undefined;
          return now() + clockTolerance + SLACK < Number(time) + DAY ? 'its day is not over' : undefined;
        };
        return [`${String(key)} ${String(time)}`, { words: `the ${String(action)} of the node`, referrer }];
      }),
    );
  },
});

/** The actions that were taken in an incident that goes on: a condition that was there before is still there, by settings that nobody has edited. */
export const incidentsOfRepair: MakeMemory = context => {
  const { mirror, now } = context;
  const shownSince = followShown(context, node => [
    `pool ${poolNameOf(node) ?? ''}`,
    ...listOf(dig(node, 'status', 'conditions')).map(
      each => `${String(dig(each, 'type'))}=${String(dig(each, 'status'))}`,
    ),
  ]);
  let settled = now();
  mirror.follow(resource => {
    if (resource === 'nodepools' || resource === 'nodelifecyclepolicies' || resource === 'configmaps') settled = now();
  });
  const isIllSince = (uid: string, time: number): boolean => {
    const node = mirror.all('nodes').get(uid);
    if (node === undefined || settled > time || shownSince(uid, `pool ${poolNameOf(node) ?? ''}`) > time) return false;
    const pool = mirror.named('nodepools', poolOf(node, mirror));
    const block = repairBlockFor(pool, [...mirror.all('nodelifecyclepolicies').values()]);
    return unhealthyConditionsOf(node, repairConditionsOf(block, profileIn(mirror))).some(
      ({ type, status }) => shownSince(uid, `${type}=${status}`) < time,
    );
  };
  return {
    isIn: isOfNode,
    factsIn({ id: recordId, state }) {
      const uid = recordId.slice('node/'.length);
      const time = now();
      const attempt = dig(state, 'attempt', 'key');
      const taken = listOf(dig(state, 'illness', 'taken'));
      return new Map(
        taken.map((key): [string, Fact] => {
          const referrer = (): string | undefined =>
            key !== attempt && isIllSince(uid, time) ? 'its incident goes on' : undefined;
          return [String(key), { words: `that the action ${String(key)} was taken`, referrer }];
        }),
      );
    },
  };
};

/** What the guards of a pool remember. */
export const guardsOfRepair: MakeMemory = ({ now, clockTolerance }) => {
  const isBefore = (time: number): boolean => now() + clockTolerance + SLACK < time;
  const terminationsIn = (state: unknown): readonly [string, Fact][] => {
    const all = listOf(dig(state, 'terminations'));
    // More have no room.
    if (all.length >= 100) return [];
    return all.map(each => {
      const { node, time } = fieldsOf(each);
      const referrer = (): string | undefined => (isBefore(Number(time) + DAY) ? 'its day is not over' : undefined);
      return [`termination ${String(node)} ${String(time)}`, { words: `the termination of ${String(node)}`, referrer }];
    });
  };
  const holdsIn = (state: unknown): readonly [string, Fact][] =>
    listOf(dig(state, 'held')).map(guard => {
      const referrer: Fact['referrer'] = after =>
        dig(after?.state, 'ramp') === undefined ? 'a ramp follows its end' : undefined;
      return [`hold ${String(guard)}`, { words: `that ${String(guard)} held repairs`, referrer }];
    });
  const rampIn = (state: unknown): readonly [string, Fact][] => {
    const { stepTime, granted } = fieldsOf(dig(state, 'ramp'));
    if (stepTime === undefined) return [];
    const end = Number(stepTime) + (granted === 0 ? DAY : MINUTE);
    const referrer = (): string | undefined => (isBefore(end) ? 'its step is not over' : undefined);
    return [['ramp', { words: 'its ramp', referrer }]];
  };
  const pauseIn = (state: unknown): readonly [string, Fact][] => {
    const until = dig(state, 'launchPause', 'until');
    if (until === undefined) return [];
    const replaced = replacedIn(state);
    // A replacement that was ready ends it.
    const referrer: Fact['referrer'] = after =>
      isBefore(Number(until)) && replacedIn(after?.state) <= replaced ? 'it is not over' : undefined;
    return [['pause', { words: 'the pause after a launch that failed', referrer }]];
  };
  return {
    isIn: isOfPool,
    factsIn: ({ state }: NewRecord) =>
      new Map([...terminationsIn(state), ...holdsIn(state), ...rampIn(state), ...pauseIn(state)]),
  };
};

/** When a node was terminated last whose replacement was ready. */
const replacedIn = (state: unknown): number =>
  Math.max(
    -Infinity,
    ...listOf(dig(state, 'terminations'))
      .filter(each => dig(each, 'isReplaced') === true)
      .map(each => Number(dig(each, 'time'))),
  );
