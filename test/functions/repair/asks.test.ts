/** What a pass is asked for, as it stands in the record of the requests that wait for it. */
import { describe, expect, it } from 'vitest';
import { drainAsk, nodeAsk, readAsks } from '../../../functions/repair/wake-ups.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';

const ended = { requestId: 'n1.1', answer: { kind: 'succeeded', message: 'drain Succeeded: ' } } as const;

describe('what a pass is asked for', () => {
  it('names nodes, and drains that ended', () => {
    const asked = readAsks([drainAsk('n1', ended), nodeAsk('n2', toEpochMs(5))]);
    expect(asked.isWhole).toBe(false);
    expect([...asked.uids]).toEqual(['n1', 'n2']);
    expect(asked.drainEnds.get('n1')).toEqual(ended);
  });

  it.each(['!', '!{', '!null', '!{"uid":5}', '!{"uid":"n1","requestId":"n1.1","answer":"done"}'])(
    'is the whole pool where %j cannot be read',
    text => {
      const asked = readAsks([text, nodeAsk('n2', toEpochMs(5))]);
      expect(asked).toMatchObject({ isWhole: true, changesTime: undefined });
      expect(asked.drainEnds.size).toBe(0);
      expect([...asked.uids]).toEqual(['n2']);
    },
  );
});
