/** Where as many requests wait on a node as its record holds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admit } from '../../../../functions/drain/rule/admission.ts';
import type { DrainRecord } from '../../../../functions/drain/record.ts';
import { scopeOfAll, covers } from '../../../../functions/drain/rule/pods.ts';
import { active, modes, observation, request, reset } from '../observations.ts';

const RULES = modes('AllowCompletion', 'partialDrainEnabled = true');
const gpuA = { kind: 'entities', entities: ['GPU-a'] } as const;
const fifty = Array.from({ length: 50 }, (_, index) => reset(`e${index}`, ['GPU-a']));
const busy: DrainRecord = { active: active({ scope: gpuA, requests: fifty }), requests: [], finished: [] };
const admitted = (record: DrainRecord, asked: ReturnType<typeof request>) =>
  admit(observation({ rules: RULES, record }), { kind: 'drain', request: asked });
const forced = (id: string) => request(id, { drainOverrides: { force: true, skip: false } });

describe('with fifty requests', () => {
  it('answers one that the drain under way covers', () => {
    expect(admitted(busy, reset('e50', ['GPU-a']))).toMatchObject({
      kind: 'answer',
      answer: { status: 'Cancelled', reason: 'Covered' },
    });
  });

  it('answers one that the next drain covers', () => {
    const record = { ...busy, requests: Array.from({ length: 50 }, (_, index) => request(`w${index}`)) };
    expect(admitted(record, reset('e50', ['GPU-b']))).toMatchObject({ kind: 'answer', answer: { reason: 'Covered' } });
  });

  it('takes a wider one, which follows', () => {
    expect(admitted(busy, request('wide'))).toMatchObject({ kind: 'take', position: 'follows' });
  });

  it('takes a forced one, which takes the places of those that it covers', () => {
    const record = { ...busy, requests: Array.from({ length: 50 }, (_, index) => request(`w${index}`)) };
    const taken = admitted(record, forced('now'));
    expect(taken).toMatchObject({ kind: 'take', position: 'follows', record: { requests: [{ id: 'now' }] } });
    expect(taken?.kind === 'take' && taken.replacedEnds.map(({ id, reason }) => `${id} ${reason}`)).toEqual(
      record.requests.map(({ id }) => `${id} Covered`),
    );
  });

  it('takes one for all pods, which waits for no configuration and takes one place alone', () => {
    const waiting = Array.from({ length: 50 }, (_, index) => request(`e${index}`));
    const record: DrainRecord = { active: active({ requests: waiting }), requests: [], finished: [] };
    const taken = admitted(record, { ...request('reboot'), requestedBy: 'curfew.repair', allPods: true });
    expect(taken).toMatchObject({ kind: 'take', position: 'joins', replacedEnds: [{ id: 'e49', reason: 'Covered' }] });
    const requests = taken?.kind === 'take' ? (taken.record.active?.requests ?? []) : [];
    expect(requests.map(({ id }) => id)).toEqual([...waiting.slice(0, 49).map(({ id }) => id), 'reboot']);
    const next = taken?.kind === 'take' ? admitted(taken.record, forced('now')) : undefined;
    const after = next?.kind === 'take' ? (next.record.active?.requests ?? []) : [];
    expect(after.map(({ id }) => id)).toEqual(['reboot', 'now']);
  });

  it('takes one that covers none, and makes one wider request of it and another', () => {
    const record = {
      ...busy,
      requests: Array.from({ length: 50 }, (_, index) => reset(`w${index}`, [`GPU-${index}`])),
    };
    const taken = admitted(record, reset('other', ['GPU-x']));
    if (taken?.kind !== 'take') throw new Error('it is refused');
    const { requests } = taken.record;
    expect(requests.length).toBe(50);
    expect(scopeOfAll(requests, true)).toEqual(scopeOfAll([...record.requests, reset('other', ['GPU-x'])], true));
  });

  it('never refuses, and drains for no less than all that was asked', () => {
    const asked = fc.record({
      gpus: fc.array(fc.constantFrom('GPU-a', 'GPU-b', 'GPU-c', 'GPU-d')),
      force: fc.boolean(),
      allPods: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(asked, { minLength: 60, maxLength: 80 }), all => {
        let record: DrainRecord = {
          active: active({ scope: gpuA, requests: fifty.slice(0, 3) }),
          requests: [],
          finished: [],
        };
        const wanted = all.map(({ gpus, force, allPods }, index) => {
          const one = gpus.length === 0 ? request(`n${index}`) : reset(`n${index}`, gpus);
          return {
            ...one,
            ...(allPods && { allPods }),
            event: { ...one.event, drainOverrides: force ? { force, skip: false } : undefined },
          };
        });
        for (const one of wanted) {
          const admission = admitted(record, one);
          if (admission?.kind === 'answer' || admission?.kind === 'take') ({ record } = admission);
        }
        const running = record.active?.requests ?? [];
        expect(record.finished.filter(({ status }) => status === 'Failed')).toEqual([]);
        expect(Math.max(running.length, record.requests.length)).toBeLessThanOrEqual(50);
        const kept = [...running, ...record.requests];
        expect(covers(scopeOfAll(kept, true), scopeOfAll(wanted, true))).toBe(true);
        const isForced = wanted.some(({ event }) => event.drainOverrides?.force === true);
        expect(kept.some(({ event }) => event.drainOverrides?.force === true)).toBe(isForced);
        expect(kept.some(({ allPods }) => allPods === true)).toBe(wanted.some(each => 'allPods' in each));
      }),
    );
  });
});
