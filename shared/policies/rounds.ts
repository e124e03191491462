/**
 * Rounds: one change concerns many objects, such as a policy that a hundred pools share. A round finds out which, and wakes them. A
 * burst of changes costs one round at once and one per `spacing` after it. The wake-ups of a round are spread. The next round begins
 * only when they are over, so that each object is woken at most once in that time (`shared/lifecycle/coalesce.ts`).
 */
import type { FunctionName } from '../contract/names.ts';
import type { Subject } from '../contract/subject.ts';
import { seconds, toDurationMs, type DurationMs } from '../domain/time.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import { createCoalescer, type Coalescer } from '../lifecycle/coalesce.ts';
import { ALL, type RoundTargets, roundTargetsOf } from '../lifecycle/next-round.ts';

/** Wake-ups a second, unless that takes longer than `LONGEST_SPREAD_SECONDS`. */
const WAKE_UPS_PER_SECOND = 50;
/** I5 allows five minutes. */
const LONGEST_SPREAD_SECONDS = 240;

export interface Round {
  readonly owner: FunctionName;
  /** Tells the rounds of one function apart. */
  readonly name: string;
  readonly spacing: DurationMs;
  /** The objects that a change affects: only those for which the answer may differ from before. Live reads. */
  readonly findAffected: (targets: RoundTargets) => Promise<readonly Subject[]>;
}

export interface Rounds extends Pick<Coalescer, 'takes' | 'timerDue'> {
  /** Something changed. @param target undefined: it may concern everything */
  request(target: string | undefined): Promise<void>;
}

type Deps = Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>;

export function createRounds(deps: Deps, { owner, name, spacing, findAffected }: Round): Rounds {
  const coalescer = createCoalescer(deps, {
    owner,
    name,
    spacing,
    async run(requests) {
      const spread = await wake(deps, owner, await findAffected(roundTargetsOf(requests)));
      return toDurationMs(Math.max(spacing, spread));
    },
  });
  return {
    ...coalescer,
    async request(target) {
      await coalescer.request(target === undefined ? ALL : { kind: 'target', name: target });
    },
  };
}

/** Answers how long the wake-ups take to arrive. */
async function wake({ wakeUps, clock }: Deps, owner: FunctionName, subjects: readonly Subject[]): Promise<DurationMs> {
  const perSecond = Math.max(WAKE_UPS_PER_SECOND, Math.ceil(subjects.length / LONGEST_SPREAD_SECONDS));
  const wakeTime = clock.now();
  const delayOf = (index: number): DurationMs => seconds(Math.floor(index / perSecond));
  await wakeUps.send(
    subjects.map((subject, index) => ({ wakeUp: { owner, subject, wakeTime }, delay: delayOf(index) })),
  );
  return delayOf(Math.max(0, subjects.length - 1));
}
