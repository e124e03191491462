/**
 * - I8 nothing crashes a function, and none goes round in circles
 * - I9 no message ends in a dead-letter queue, but those of others that are not valid
 */
import { messageOf, RetryableError } from '../../shared/errors.ts';
import type { CheckContext, MakeCheck } from './invariant.ts';
import { dig, textOf } from './reading.ts';
import { pluralOf } from './served-versions.ts';

/**
 * Runs in one simulated minute that no scenario needs: ten for each object that is there at its first run or at its end, ten for each event that
 * others say and each message that comes late in that minute or the ten before, and a thousand. Those that go back to the queue are not counted:
 * each waits longer than the one before, and too many of them end in the dead letters (I9).
 */
const RUNS_PER_OBJECT = 10;
const RUNS_PER_MINUTE = 1000;
const RUNS_PER_MESSAGE = 10;
/** So many minutes what came all at once is still worked on. */
const WORKED_ON = 10;
const COUNTED = ['nodes', 'nodeclaims', 'pods'] as const;

export const checkRobustness: MakeCheck = context => {
  const { mirror, violate } = context;
  let runs = 0;
  let before: number | undefined;
  let messages = 0;
  /** Counts of the minutes before. */
  const earlier: number[] = [];
  const count = (): number =>
    COUNTED.reduce((sum, resource) => sum + mirror.all(resource).size, countOfFinalizerRules(context));
  return {
    onFailure(by, error) {
      if (error instanceof RetryableError) {
        runs -= 1;
        return;
      }
      violate(
        'I8',
        `${by} failed with a bug: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`,
      );
    },
    onBuried(by, reason, explanation) {
      if (reason !== 'InvalidMessage')
        violate('I9', `a message of ${by} ended in its dead-letter queue: ${reason}: ${explanation}`);
    },
    onBusEvent() {
      messages += 1;
    },
    onLateMessage() {
      messages += 1;
    },
    onRun() {
      before ??= count();
      runs += 1;
    },
    onMinute() {
      const objects = Math.max(before ?? 0, count());
      const came = messages + earlier.reduce((sum, each) => sum + each, 0);
      if (runs > RUNS_PER_MINUTE + RUNS_PER_OBJECT * objects + RUNS_PER_MESSAGE * came)
        violate('I8', `${runs} runs in one minute`);
      before = undefined;
      earlier.push(messages);
      if (earlier.length > WORKED_ON) earlier.shift();
      messages = 0;
      runs = 0;
    },
  };
};

/** Objects of the kinds that FinalizerRules name. */
function countOfFinalizerRules({ mirror, objects }: CheckContext): number {
  return [...mirror.all('finalizerrules').values()].reduce((sum, rule) => {
    const resource = pluralOf(rule, objects);
    if (resource === undefined) return sum;
    return sum + objects(`${resource}.${textOf(dig(rule, 'spec', 'group')) ?? ''}`).length;
  }, 0);
}
