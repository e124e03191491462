import { describe, expect, it } from 'vitest';
import {
  anotherTurn,
  DONE,
  MAX_EFFECTS,
  MAX_TURNS,
  PROGRESSED,
  settle,
  type Observed,
  type Turn,
} from '../../../shared/lifecycle/settle.ts';

function aConcern(observed: readonly Observed<number>[], turns: readonly Turn[]) {
  const log: string[] = [];
  let looks = 0;
  return {
    log,
    concern: {
      what: 'node n1',
      observe: async () => {
        log.push('observe');
        return observed[looks++] ?? { kind: 'here', observation: looks };
      },
      decide: (observation: number) => `decision ${observation}`,
      apply: async (decision: string) => {
        log.push(decision);
        return turns[looks - 1] ?? anotherTurn('busy');
      },
    } as const,
  };
}

describe('the subject loop', () => {
  it('observes, decides and applies', async () => {
    const { concern, log } = aConcern([{ kind: 'here', observation: 7 }], [DONE]);
    await settle(concern);
    expect(log).toEqual(['observe', 'decision 7']);
  });

  it('ends when there is nothing to decide', async () => {
    const { concern, log } = aConcern([{ kind: 'over' }], []);
    await settle(concern);
    expect(log).toEqual(['observe']);
  });

  it('goes on from what it carried out, and counts the turns anew: nobody was in the way', async () => {
    const effects = Array.from({ length: MAX_TURNS + 2 }, () => PROGRESSED);
    const { concern, log } = aConcern([], [...effects, anotherTurn('busy'), DONE]);
    await settle(concern);
    expect(log.filter(each => each === 'observe')).toHaveLength(MAX_TURNS + 4);
  });

  it('leaves the rest to the next run after so many effects', async () => {
    const { concern, log } = aConcern(
      [],
      Array.from({ length: MAX_EFFECTS + 5 }, () => PROGRESSED),
    );
    await settle(concern);
    expect(log.filter(each => each === 'observe')).toHaveLength(MAX_EFFECTS);
  });

  it('observes once more when something changed in between', async () => {
    const { concern, log } = aConcern(
      [
        { kind: 'here', observation: 1 },
        { kind: 'here', observation: 2 },
      ],
      [anotherTurn('another run wrote first'), DONE],
    );
    await settle(concern);
    expect(log).toEqual(['observe', 'decision 1', 'observe', 'decision 2']);
  });

  it('gives the message back after a bounded number of turns, and says why', async () => {
    const { concern, log } = aConcern([], []);
    await expect(settle(concern)).rejects.toMatchObject({
      name: 'RetryableError',
      reason: 'Contended',
      message: 'node n1 changed 5 times while it was looked at: busy',
    });
    expect(log.filter(line => line === 'observe')).toHaveLength(MAX_TURNS);
  });
});
