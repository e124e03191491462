import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endedFaults, endsSince, isAbout, isOver, isBefore } from '../../../../functions/drain/rule/faults.ts';
import { addDuration, minutes, type EpochMs } from '../../../../shared/domain/time.ts';
import { NOW } from '../observations.ts';
import type { NodeFault, Timestamps } from '../../../../functions/drain/request-record.ts';

const fault = (entities: readonly string[] = [], codes: readonly string[] = [], checkName = 'k'): NodeFault => ({
  agent: 'a',
  componentClass: 'c',
  checkName,
  entities,
  codes,
});

describe('a fault', () => {
  it.each<[string, NodeFault, readonly NodeFault[], boolean]>([
    ['of one entity, which recovers', fault(['A']), [fault(['A'])], true],
    ['of one entity, of which the whole check recovers', fault(['A']), [fault()], true],
    ['of two entities, of which one recovers', fault(['A', 'B']), [fault(['A'])], false],
    ['of two entities that recover one by one', fault(['A', 'B']), [fault(['A']), fault(['B'])], true],
    ['of the whole check, of which each entity recovers', fault(), [fault(['A']), fault(['B'])], false],
    ['of one code, about which another recovers', fault(['A'], ['79']), [fault(['A'], ['48'])], false],
    ['of one code, of which all recover', fault(['A'], ['79']), [fault(['A'])], true],
    ['of two codes that recover one by one', fault([], ['79', '48']), [fault([], ['79']), fault([], ['48'])], true],
    ['of no code, about which one recovers', fault(['A']), [fault(['A'], ['79'])], false],
    [
      'of two by two, of which one pair is left',
      fault(['A', 'B'], ['1', '2']),
      [fault(['A']), fault(['B'], ['1'])],
      false,
    ],
    ['of another check', fault([], [], 'other'), [fault()], false],
    ['of another monitor', { ...fault(), agent: 'b' }, [fault()], false],
    ['of another component', { ...fault(), componentClass: 'd' }, [fault()], false],
    ['of one code, about which nobody says anything', fault([], ['79']), [], false],
    [
      'of one code, by an end of before, which knew no codes',
      fault([], ['79']),
      [{ ...fault(), codes: undefined } as unknown as NodeFault],
      true,
    ],
    [
      'of before, whatever the code',
      { ...fault(['A']), codes: undefined } as unknown as NodeFault,
      [fault(['A'], ['79'])],
      true,
    ],
  ])('%s', (_, given, ends, expected) => {
    const { codes, ...rest } = given;
    expect(isOver(codes === undefined ? rest : given, ends)).toBe(expected);
  });

  const some = fc.subarray(['1', '2', '3']);
  it('is over as each pair of an entity and a code is', () => {
    fc.assert(
      fc.property(some, some, fc.array(fc.tuple(some, some), { maxLength: 4 }), (entities, codes, ends) => {
        fc.pre(entities.length > 0 && codes.length > 0);
        const names = (named: readonly string[], one: string): boolean => named.length === 0 || named.includes(one);
        const expected = entities.every(entity =>
          codes.every(code => ends.some(([e, c]) => names(e, entity) && names(c, code))),
        );
        expect(
          isOver(
            fault(entities, codes),
            ends.map(([e, c]) => fault(e, c)),
          ),
        ).toBe(expected);
      }),
    );
  });

  it('is not over by what is about none of it', () => {
    fc.assert(
      fc.property(some, some, some, some, (a, b, c, d) => {
        const [one, end] = [fault(a, b), fault(c, d)];
        if (isOver(one, [end])) expect(isAbout(end, one)).toBe(true);
      }),
    );
  });
});

describe('a recovery', () => {
  it.each<[string, NodeFault, NodeFault, boolean]>([
    ['of the same entity', fault(['A']), fault(['A', 'B']), true],
    ['of some entities, others among them', fault(['C', 'B']), fault(['A', 'B']), true],
    ['of the whole check', fault(), fault(['A']), true],
    ['of one entity, where the fault is of the whole check', fault(['A']), fault(), true],
    ['of another entity', fault(['B']), fault(['A']), false],
    ['of another check', fault(['A'], [], 'other'), fault(['A']), false],
    ['of another code', fault(['A'], ['1']), fault(['A'], ['2']), false],
    ['of one of its codes', fault(['A'], ['3', '2']), fault(['A'], ['1', '2']), true],
    ['of a code, where the fault names none', fault(['A'], ['1']), fault(['A']), true],
    [
      'of before, which knew no codes',
      { ...fault(['A']), codes: undefined } as unknown as NodeFault,
      fault(['A'], ['1']),
      true,
    ],
    [
      'of a code of a fault of before',
      fault(['A'], ['1']),
      { ...fault(['A']), codes: undefined } as unknown as NodeFault,
      true,
    ],
  ])('%s is about a fault or not', (_, recovery, of, expected) => {
    const without = ({ codes, ...rest }: NodeFault): NodeFault => (codes === undefined ? rest : { ...rest, codes });
    expect(isAbout(without(recovery), without(of))).toBe(expected);
  });

  const named = (kind: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `${kind}${index}`);

  it.each([
    [100, 100, true],
    [101, 100, false],
  ])(
    'part by part ends a fault of %i entities and %i codes: %s, since so many are not compared',
    (entities, codes, over) => {
      const of = fault(named('e', entities), named('c', codes));
      const halves = [of.entities.slice(0, 50), of.entities.slice(50)].map(half => fault(half));
      expect(isOver(of, halves)).toBe(over);
      // One that names them all ends it, however many they are.
      expect(isOver(of, [fault()])).toBe(true);
    },
  );
});

describe('what was said', () => {
  const at = (count: number): EpochMs => addDuration(NOW, minutes(count));

  it.each<[string, Timestamps | undefined, Timestamps | undefined, boolean]>([
    [
      'by the clock of the monitor',
      { generatedTime: at(1), createdTime: at(9) },
      { generatedTime: at(2), createdTime: at(8) },
      true,
    ],
    [
      'at the same instant',
      { generatedTime: at(1), createdTime: at(1) },
      { generatedTime: at(1), createdTime: at(2) },
      false,
    ],
    ['by the first clock that both state', { generatedTime: at(1), createdTime: at(5) }, { createdTime: at(6) }, true],
    ['by the last clock', { sentTime: at(1) }, { createdTime: at(0), sentTime: at(2) }, true],
    ['by no clock that both state', { generatedTime: at(1) }, { createdTime: at(2) }, false],
    ['nobody knows when', undefined, { createdTime: at(2) }, false],
    ['before nobody knows when', { createdTime: at(2) }, undefined, false],
  ])('before something else: %s', (_, one, other, expected) => {
    expect(isBefore(one, other)).toBe(expected);
  });

  it('counts of recoveries for what was said no later, and for what was surely said before', () => {
    const recoveries = [1, 2, 3].map(count => ({
      fault: fault([`${count}`]),
      said: { createdTime: at(count) },
      time: NOW,
    }));
    const entities = (ends: readonly NodeFault[]): readonly string[] => ends.flatMap(end => end.entities);
    const event = { createdTime: at(2) };
    expect(entities(endsSince(recoveries, event))).toEqual(['2', '3']);
    expect(entities(endedFaults(recoveries, event))).toEqual(['3']);
    expect(entities(endsSince(recoveries, undefined))).toEqual(['1', '2', '3']);
    expect(entities(endedFaults(recoveries, undefined))).toEqual([]);
  });
});
