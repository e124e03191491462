/** Choices that generated scenarios are made of. */
import { addDuration, seconds, toDurationMs, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';

/** One of the items; twice the weight, twice as likely. */
export function pickWeighted<T>(random: Random, items: readonly (readonly [weight: number, item: T])[]): T {
  let left = random.next() * items.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, item] of items) {
    left -= weight;
    if (left < 0) return item;
  }
  return random.pick(items)[1];
}

/** Some of the items, each with that probability. */
export function pickSome<T>(random: Random, items: readonly T[], probability: number): T[] {
  return items.filter(() => random.chance(probability));
}

/** Whole numbers from 0 to `count - 1`. */
export function times(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** From `from` to `to`; half of the draws are whole seconds, as instants of Kubernetes are. */
export function drawDuration(random: Random, from: DurationMs, to: DurationMs): DurationMs {
  const ms = random.integer(from, Math.max(from, to));
  return toDurationMs(random.chance(0.5) ? Math.floor(ms / 1000) * 1000 : ms);
}

/** An instant about `from + duration`, as likely to the second as a moment before or after it: where races are. */
export function drawNear(random: Random, from: EpochMs, duration: DurationMs): EpochMs {
  const offset = pickWeighted(random, [
    [2, 0],
    [3, random.integer(-1500, 1500)],
    [2, random.integer(-10_000, 10_000)],
    [3, random.integer(0, 240_000)],
  ]);
  return addDuration(addDuration(from, duration), toDurationMs(offset));
}

/** Down to the second. */
export function wholeSecond(time: EpochMs): EpochMs {
  return addDuration(time, toDurationMs(0 - (time % seconds(1))));
}
