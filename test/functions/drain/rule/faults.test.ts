import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAbout, isOver } from '../../../../functions/drain/rule/faults.ts';
import type { Fault } from '../../../../functions/drain/request-record.ts';

const fault = (entities: readonly string[] = [], codes: readonly string[] = [], checkName = 'k'): Fault => ({
  agent: 'a',
  componentClass: 'c',
  checkName,
  entities,
  codes,
});

describe('a fault', () => {
  it.each<[string, Fault, readonly Fault[], boolean]>([
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
    [
      'of before, whatever the code',
      { ...fault(['A']), codes: undefined } as unknown as Fault,
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
