/** Where as many requests wait on a node as its record holds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerOrTake } from '../../../../functions/drain/rule/take-request.ts';
import type { ActiveDrain, DrainRecord } from '../../../../functions/drain/record.ts';
import { makeRoom, isFull } from '../../../../functions/drain/rule/request-limit.ts';
import { scopeOfAll, covers } from '../../../../functions/drain/rule/pods.ts';
import { active, modes, NOW, observation, request, reset, asking, RESOURCE } from '../observations.ts';

const RULES = modes('AllowCompletion', 'partialDrainEnabled = true');
const gpuA = { kind: 'entities', entities: ['GPU-a'] } as const;
const fifty = Array.from({ length: 50 }, (_, index) => reset(`e${index}`, ['GPU-a']));
const busy: DrainRecord = { active: active({ scope: gpuA, requests: fifty }), requests: [], finished: [] };
const decisionOn = (record: DrainRecord, asked: ReturnType<typeof request>) =>
  answerOrTake(observation({ configuration: RULES, record }), asking(asked));
const forced = (id: string) => request(id, { drainOverrides: { force: true, skip: false } });

describe('with fifty requests', () => {
  it('answers one that the drain under way covers', () => {
    expect(decisionOn(busy, reset('e50', ['GPU-a']))).toMatchObject({
      kind: 'answer',
      answer: { status: 'Cancelled', reason: 'Covered' },
    });
  });

  it('answers one that the next drain covers', () => {
    const record = { ...busy, requests: Array.from({ length: 50 }, (_, index) => request(`w${index}`)) };
    expect(decisionOn(record, reset('e50', ['GPU-b']))).toMatchObject({
      kind: 'answer',
      answer: { reason: 'Covered' },
    });
  });

  it('takes a wider one, which follows', () => {
    expect(decisionOn(busy, request('wide'))).toMatchObject({ kind: 'take', position: 'follows' });
  });

  it('takes a forced one, which takes the places of those that it covers', () => {
    const waiting = Array.from({ length: 50 }, (_, index) => request(`w${index}`));
    const covered = (of: readonly { readonly id: string }[]) => of.map(({ id }) => `${id} Covered`);
    const endsOf = (taken: ReturnType<typeof decisionOn>): unknown =>
      taken?.kind === 'take' && taken.replacedEnds.map(({ id, reason }) => `${id} ${reason}`);

    const follows = decisionOn({ ...busy, requests: waiting }, forced('now'));
    expect(follows).toMatchObject({ kind: 'take', position: 'follows', record: { requests: [{ id: 'now' }] } });
    expect(endsOf(follows)).toEqual(covered(waiting));
  });

  it('takes one for all pods into the drain under way, which it widens', () => {
    const reboot = { ...request('reboot'), requestedBy: 'curfew.repair', allPods: true };
    const drain = active({ scope: gpuA, requests: [reset('e1', ['GPU-a'])], progress: { pods: 1, time: NOW } });
    const taken = (given: Partial<ActiveDrain>, asked: ReturnType<typeof request> = reboot) =>
      decisionOn({ active: { ...drain, ...given }, requests: [], finished: [] }, asked);
    const wider = taken({});
    expect(wider).toMatchObject({
      position: 'joins',
      record: { active: { id: 'e1', scope: { kind: 'full' }, requests: [{ id: 'e1' }, { id: 'reboot' }] } },
    });
    expect(wider?.kind === 'take' && wider.record.active).not.toHaveProperty('progress');
    // The pods of a custom resource stay those for which it was made.
    expect(taken({ phase: { kind: 'custom', resource: RESOURCE } })).toMatchObject({ position: 'follows' });
    expect(taken({ phase: { kind: 'fallback', because: 'x' } })).toMatchObject({ position: 'follows' });
  });

  it('takes one that waits for nobody into a drain that waits, which it widens', () => {
    const waiting = { phase: { kind: 'waiting', since: NOW, takesSlot: false } } as const;
    const drain = active({ scope: gpuA, requests: [reset('e1', ['GPU-a'])] });
    const person = { ...request('p1'), requestedBy: 'node-annotation' };
    const positionOf = (given: Partial<ActiveDrain>, asked: ReturnType<typeof request>): unknown => {
      const taken = decisionOn({ active: { ...drain, ...given }, requests: [], finished: [] }, asked);
      return taken?.kind === 'take' && taken.position;
    };
    expect(positionOf(waiting, person)).toBe('joins');
    expect(positionOf({}, person)).toBe('follows');
    expect(positionOf(waiting, forced('f1'))).toBe('follows');
  });

  it('takes one for all pods, which waits for no configuration and takes one place alone', () => {
    const waiting = Array.from({ length: 50 }, (_, index) => request(`e${index}`));
    const record: DrainRecord = { active: active({ requests: waiting }), requests: [], finished: [] };
    const taken = decisionOn(record, { ...request('reboot'), requestedBy: 'curfew.repair', allPods: true });
    expect(taken).toMatchObject({ kind: 'take', position: 'joins', replacedEnds: [{ id: 'e49', reason: 'Covered' }] });
    const requests = taken?.kind === 'take' ? (taken.record.active?.requests ?? []) : [];
    expect(requests.map(({ id }) => id)).toEqual([...waiting.slice(0, 49).map(({ id }) => id), 'reboot']);
    const next = taken?.kind === 'take' ? decisionOn(taken.record, forced('now')) : undefined;
    const after = next?.kind === 'take' ? (next.record.active?.requests ?? []) : [];
    expect(after.map(({ id }) => id)).toEqual(['reboot', 'now']);
  });

  it('takes one that covers none, and makes one wider request of it and another', () => {
    const record = {
      ...busy,
      requests: Array.from({ length: 50 }, (_, index) => reset(`w${index}`, [`GPU-${index}`])),
    };
    const taken = decisionOn(record, reset('other', ['GPU-x']));
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
          const decision = decisionOn(record, one);
          if (decision?.kind === 'answer' || decision?.kind === 'take') ({ record } = decision);
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

describe('a record is full', () => {
  const fits: DrainRecord = { requests: [], finished: [] };
  const big = request('big', { message: 'x'.repeat(140_000) });

  it.each<[string, DrainRecord, ReturnType<typeof request>, boolean, boolean]>([
    ['not without requests, however big the first one is', fits, big, false, false],
    ['where one more has no room in bytes', { ...fits, requests: [request('w')] }, big, false, true],
    ['where one more beside those of the drain has none', { ...fits, active: active() }, big, false, true],
    ['not for a small one', { ...fits, requests: [request('w')] }, request('v'), false, false],
    ['with fifty that wait', { ...fits, requests: fifty }, request('v'), false, true],
    ['with fifty under way, for one that joins', busy, request('v'), true, true],
    ['not with fifty under way, for one that follows', busy, request('v'), false, false],
  ])('%s', (_, record, asked, joins, expected) => {
    expect(isFull(record, asked, joins)).toBe(expected);
  });
});

describe('where no place is free', () => {
  const NONE: DrainRecord = { requests: [], finished: [] };
  const PARTIAL = { joins: false, partialDrain: true };
  const waits = (...requests: DrainRecord['requests']): DrainRecord => ({ ...NONE, requests });
  const room = (record: DrainRecord, asked: ReturnType<typeof request>, how = PARTIAL) => makeRoom(record, asked, how);
  const taken = (record: DrainRecord, asked: ReturnType<typeof request>, how = PARTIAL) => {
    const decision = room(record, asked, how);
    if (decision.kind !== 'taken') throw new Error('it is covered');
    return decision;
  };
  const words = (by: string): object => ({
    status: 'Cancelled',
    reason: 'Covered',
    message: `${by} covers it, and so many requests of this node wait that it is not kept: the answer to that one stands for it`,
    left: [],
  });
  const ofPerson = (id: string) => ({ ...request(id), requestedBy: 'node-annotation' });

  it('says which drain covers it', () => {
    const joins = { ...PARTIAL, joins: true };
    const record = { ...NONE, active: active(), requests: [request('w0'), request('w1')] };
    expect(room(record, request('a'), joins)).toEqual({
      kind: 'covered',
      outcome: words('drain e1, which is under way,'),
    });
    expect(room(record, request('a'))).toEqual({ kind: 'covered', outcome: words('drain w0, which is next,') });
    expect(taken(waits(reset('w', ['GPU-a'])), request('a')).outcome).toEqual(words('drain a, which is wider,'));
  });

  it('is not covered by a drain that it does not join', () => {
    expect(taken({ ...NONE, active: active() }, request('a')).replacedRequests).toEqual([]);
  });

  it.each<[string, DrainRecord['requests'], ReturnType<typeof request>, boolean]>([
    ['all of the node covers a GPU', [request('w')], reset('a', ['GPU-a']), true],
    ['a GPU does not cover another', [reset('w', ['GPU-a'])], reset('a', ['GPU-b']), false],
    [
      'two cover the GPUs of both',
      [reset('w', ['GPU-a']), reset('v', ['GPU-b'])],
      reset('a', ['GPU-a', 'GPU-b']),
      true,
    ],
    ['what names no GPU covers all of the node', [reset('w', ['GPU-a']), reset('v', [])], request('a'), true],
    ['what names no GPU is not covered by one', [reset('w', ['GPU-a'])], reset('a', []), false],
    ['one of them is forced', [request('w'), forced('v')], forced('a'), true],
    ['none of them is forced', [request('w')], forced('a'), false],
    ['one of them is for all pods', [request('w'), { ...request('v'), allPods: true }], { ...request('a'), allPods: true }, true], // prettier-ignore
    ['none of them is for all pods', [request('w')], { ...request('a'), allPods: true }, false],
    ['one of them waits for nobody', [request('w'), ofPerson('v')], ofPerson('a'), true],
    ['all of them wait for others', [request('w')], ofPerson('a'), false],
  ])('%s', (_, requests, asked, isCovered) => {
    expect(room(waits(...requests), asked).kind).toBe(isCovered ? 'covered' : 'taken');
  });

  it.each<[string, Partial<ReturnType<typeof active>>, boolean]>([
    ['has begun', {}, true],
    ['waits in the queue', { phase: { kind: 'waiting', since: NOW, takesSlot: false } }, false],
    ['waits in the queue, with a request that waits for nobody', { phase: { kind: 'waiting', since: NOW, takesSlot: false }, requests: [request('w'), ofPerson('v')] }, true], // prettier-ignore
  ])('a person is answered by the drain under way where that %s: %s', (_, given, isCovered) => {
    const record = { ...NONE, active: active(given) };
    expect(room(record, ofPerson('a'), { ...PARTIAL, joins: true }).kind).toBe(isCovered ? 'covered' : 'taken');
  });

  it('becomes one request with the last one that asks for something else', () => {
    const long = { message: 'x'.repeat(300), metadata: { rack: 'r1' } };
    const one = reset('a', ['GPU-x']);
    const asked = { ...one, event: { ...one.event, ...long } };
    const { request: wider, replacedRequests } = taken(waits(reset('v', ['GPU-b']), reset('w', ['GPU-a'])), asked);
    expect(replacedRequests.map(({ id }) => id)).toEqual(['w']);
    expect(wider).toEqual({
      ...asked,
      event: {
        ...asked.event,
        message: 'x'.repeat(256),
        metadata: {},
        entitiesImpacted: [...asked.event.entitiesImpacted, ...reset('w', ['GPU-a']).event.entitiesImpacted],
      },
    });
  });

  it.each<[string, DrainRecord['requests'][number], ReturnType<typeof request>, object]>([
    ['for the node with one that is', request('w'), { ...reset('a', ['GPU-x']), event: { ...reset('a', ['GPU-x']).event, drainOverrides: { force: true, skip: false } } }, { event: { recommendedAction: 24, drainOverrides: { force: true, skip: false } } }], // prettier-ignore
    ['forced with one that is', { ...reset('w', ['GPU-a']), event: { ...reset('w', ['GPU-a']).event, drainOverrides: { force: true, skip: false } } }, request('a'), { event: { recommendedAction: 24, drainOverrides: { force: true, skip: false } } }], // prettier-ignore
    ['for GPUs where both are', reset('w', ['GPU-a']), reset('a', ['GPU-x']), { event: { recommendedAction: 2, drainOverrides: undefined }, requestedBy: 'm' }], // prettier-ignore
    ['one that waits for nobody with one that does not', { ...reset('w', ['GPU-a']), requestedBy: 'node-annotation' }, reset('a', ['GPU-x']), { requestedBy: 'node-annotation' }], // prettier-ignore
    ['for all pods with one that is', { ...reset('w', ['GPU-a']), allPods: true }, reset('a', ['GPU-x']), { allPods: true }], // prettier-ignore
  ])('becomes %s', (_, other, asked, expected) => {
    expect(taken(waits(other), asked).request).toMatchObject(expected);
  });

  it('is for all pods only where one of the two is', () => {
    expect(taken(waits(reset('w', ['GPU-a'])), reset('a', ['GPU-x'])).request).not.toHaveProperty('allPods');
    const { replacedRequests } = taken(
      waits(reset('v', ['GPU-b']), { ...reset('w', ['GPU-a']), allPods: true }),
      reset('a', ['GPU-x']),
    );
    expect(replacedRequests.map(({ id }) => id)).toEqual(['v']);
  });
});
