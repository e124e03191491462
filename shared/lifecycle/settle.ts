/**
 * The subject loop: observe → decide → apply, again when something changed in between. Every turn observes in the same way.
 * The number of turns is bounded: past it the message goes back to the queue.
 */
import { contendedError } from '../errors.ts';

/** Turns of one run before the message goes back to the queue: others are at work on this subject. */
export const MAX_TURNS = 5;
/** Effects of one run, one after the other; the next run goes on from there. */
export const MAX_EFFECTS = 20;

export type Turn =
  | { readonly kind: 'done' }
  /** Something was carried out, and the next turn goes on from there. No race was lost, so turns are counted from zero. */
  | { readonly kind: 'progressed' }
  /** Another run wrote first, or this run must look again before it acts. */
  | { readonly kind: 'again'; readonly because: string };

export const DONE: Turn = { kind: 'done' };
export const PROGRESSED: Turn = { kind: 'progressed' };

/** The turn must be repeated, because what it rests on has changed. */
export const anotherTurn = (because: string): Turn => ({ kind: 'again', because });

export type Observed<Observation> =
  | { readonly kind: 'here'; readonly observation: Observation }
  /** Nothing to decide: gone and closed, or not ours. @property turn what came of the closing; absent: nothing is left to do */
  | { readonly kind: 'over'; readonly turn?: Turn };

/** The parts that a concern adds to the loop. */
export interface Concern<Observation, Decision> {
  /** The subject in words, for errors. */
  readonly what: string;
  /** Reads the live object, the record and everything else that the rule needs. Each turn reads it all again. */
  observe(): Promise<Observed<Observation>>;
  /** The rule. */
  decide(observation: Observation): Decision;
  /** Carries the decision out. Answers `again` if something has changed since, or if the attempt must be looked at once more. */
  apply(decision: Decision, observation: Observation): Promise<Turn>;
}

/** Runs the loop until it is done. Throws `RetryableError` (`Contended`) after `MAX_TURNS` turns. */
export async function settle<Observation, Decision>(concern: Concern<Observation, Decision>): Promise<void> {
  let effects = 0;
  let lostTurns = 0;
  let because = '';
  while (lostTurns < MAX_TURNS) {
    const observed = await concern.observe();
    const outcome =
      observed.kind === 'over'
        ? (observed.turn ?? DONE)
        : await concern.apply(concern.decide(observed.observation), observed.observation);
    switch (outcome.kind) {
      case 'done':
        return;
      case 'progressed':
        effects += 1;
        if (effects === MAX_EFFECTS) return;
        lostTurns = 0;
        break;
      case 'again':
        lostTurns += 1;
        because = outcome.because;
        break;
    }
  }
  throw contendedError(`${concern.what} changed ${MAX_TURNS} times while it was looked at: ${because}`);
}
