/** What a pass is asked for, as it stands in the record of the requests that wait for it. */
import { describe, expect, it } from 'vitest';
import type { PassRequest } from '../../../functions/repair/rule/pass-requests.ts';
import { FOR_POOL, forNode, readRequests, toRoundRequest } from '../../../functions/repair/pass-queue.ts';
import type { RoundRequest } from '../../../shared/lifecycle/next-round.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';

const ended = { requestId: 'n1.1', answer: { kind: 'succeeded', message: 'drain Succeeded: ' } } as const;

const at = (time: number, statusChanged?: boolean) => ({ time: toEpochMs(time), statusChanged });
const read = (...requests: readonly PassRequest[]) => readRequests(requests.map(toRoundRequest));

describe('what a pass is asked for', () => {
  it('names nodes, and drains that ended', () => {
    const asked = read({ kind: 'drainEnd', uid: 'n1', end: ended }, forNode('n2', at(5)));
    expect([...asked.uids]).toEqual(['n1', 'n2']);
    expect(asked.drainEnds.get('n1')).toEqual(ended);
  });

  it('takes an unhealthy node for one that has changed, where changes alone are asked about', () => {
    expect(read(forNode('n1', at(3)), forNode('n2', at(5))).changesTime).toBe(5);
    for (const other of [FOR_POOL, forNode('n3'), { kind: 'settings' } as const])
      expect(read(forNode('n1', at(3)), other).changesTime).toBeUndefined();
  });

  it('takes several changes of a node for the first one, in which a status changed if one says so, or one does not say', () => {
    const joined = (...statuses: readonly (boolean | undefined)[]) =>
      read(...statuses.map((status, index) => forNode('n1', at(7 - index, status)))).seenChanges.get('n1');
    expect(joined(undefined)).toEqual(at(7));
    expect(joined(false)).toEqual(at(7, false));
    expect(joined(false, false)).toEqual(at(6, false));
    expect(joined(false, undefined)).toEqual(at(6));
    expect(joined(false, true, undefined)).toEqual(at(5, true));
  });

  it('knows what another version has kept of a change', () => {
    const kept = (name: string) => readRequests([{ kind: 'target', name }]).seenChanges.get('n1');
    expect(kept('n1@5')).toEqual(at(5));
    expect(kept('n1@5@later')).toEqual(at(5));
  });

  it('says that the settings may be others, as it does where nobody knows what was asked', () => {
    const isAfterSettingsChange = (...requests: readonly RoundRequest[]) =>
      readRequests(requests).isAfterSettingsChange;
    expect(isAfterSettingsChange(toRoundRequest(FOR_POOL), toRoundRequest(forNode('n1')))).toBe(false);
    expect(isAfterSettingsChange(toRoundRequest(FOR_POOL), toRoundRequest({ kind: 'settings' }))).toBe(true);
    expect(isAfterSettingsChange({ kind: 'all' })).toBe(true);
    expect([...readRequests([toRoundRequest({ kind: 'settings' })]).uids]).toEqual([]);
  });

  it.each(['', '{', 'null', '{"uid":5}', '{"uid":"n1","requestId":"n1.1","answer":"done"}'])(
    'is the whole pool where %j cannot be read',
    text => {
      const asked = readRequests([{ kind: 'message', text }, toRoundRequest(forNode('n2', at(5)))]);
      expect(asked.changesTime).toBeUndefined();
      expect(asked.drainEnds.size).toBe(0);
      expect([...asked.uids]).toEqual(['n2']);
    },
  );

  it.each(['n1@soon', 'n1@NaN'])('is the whole pool where the time of %j cannot be read', name => {
    const asked = readRequests([{ kind: 'target', name }]);
    expect(asked.isAfterSettingsChange).toBe(true);
    expect(asked.uids.size).toBe(0);
  });
});
