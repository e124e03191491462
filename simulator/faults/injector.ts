/** Decides by the seed which fault happens, and counts them. After `stop` none happens any more. */
import { toDurationMs, type DurationMs } from '../../shared/domain/time.ts';
import type { Random } from '../random.ts';
import type { FaultKind, FaultMix } from './mix.ts';

type Probable = keyof FaultMix['probability'];

export interface FaultInjector {
  readonly active: boolean;
  readonly mix: FaultMix;
  stop(): void;
  /** At most one of the kinds, by their probabilities. */
  oneOf<Kind extends Probable>(kinds: readonly Kind[]): Kind | undefined;
  happens(kind: Probable): boolean;
  /** Counts a fault that was decided elsewhere. */
  count(kind: FaultKind): void;
  /** Up to `longest`, in whole milliseconds; short ones are likelier. */
  delay(longest: DurationMs): DurationMs;
  /** Faults so far, by kind. */
  readonly counts: ReadonlyMap<FaultKind, number>;
}

/** `oneOf` and `happens` draw from `random` only while it is active. */
export function createFaultInjector(mix: FaultMix, random: Random): FaultInjector {
  const counts = new Map<FaultKind, number>();
  let active = true;
  const count = (kind: FaultKind): void => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  };
  const oneOf = <Kind extends Probable>(kinds: readonly Kind[]): Kind | undefined => {
    if (!active) return undefined;
    let left = random.next();
    for (const kind of kinds) {
      left -= mix.probability[kind];
      if (left >= 0) continue;
      count(kind);
      return kind;
    }
    return undefined;
  };
  return {
    mix,
    counts,
    get active() {
      return active;
    },
    stop() {
      active = false;
    },
    count,
    oneOf,
    happens: kind => oneOf([kind]) !== undefined,
    delay: longest => toDurationMs(Math.floor(random.next() ** 2 * longest)),
  };
}
