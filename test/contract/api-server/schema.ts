/** What the schema of a definition does to its objects: refusals, rules, defaults, pruning. */
import { describe, expect, it } from 'vitest';
import { shareGadgets } from './gadgets.ts';
import { at, listAt, patch, type MakeSubject } from './subject.ts';

export function defineSchema(makeSubject: MakeSubject): void {
  const gadgets = shareGadgets('schema.example.com');

  describe('schemas of custom resources', () => {
    it.each([
      [{}, 'spec.size', 'FieldValueRequired', 'Required value'],
      [
        { size: 'large' },
        'spec.size',
        'FieldValueTypeInvalid',
        'Invalid value: "string": spec.size in body must be of type integer: "string"',
      ],
      [
        { size: 0 },
        'spec.size',
        'FieldValueInvalid',
        'Invalid value: 0: spec.size in body should be greater than or equal to 1',
      ],
      [
        { size: 11 },
        'spec.size',
        'FieldValueInvalid',
        'Invalid value: 11: spec.size in body should be less than or equal to 10',
      ],
      [
        { size: 1, mode: 'Medium' },
        'spec.mode',
        'FieldValueNotSupported',
        'Unsupported value: "Medium": supported values: "Fast", "Slow"',
      ],
      [
        { size: 1, wait: '1hr' },
        'spec.wait',
        'FieldValueInvalid',
        'Invalid value: "1hr": spec.wait in body should match \'^([0-9]+(s|m|h))+$\'',
      ],
      [{ size: 1, wait: '11111111111s' }, 'spec.wait', 'FieldValueTooLong', 'Too long: may not be more than 10 bytes'],
      [{ size: 1, list: [{ value: 'x' }] }, 'spec.list[0].name', 'FieldValueRequired', 'Required value'],
      [
        { size: 1, list: [{ name: 'a' }, { name: 'a' }] },
        'spec.list[1]',
        'FieldValueDuplicate',
        'Duplicate value: {"name":"a"}',
      ],
      [
        { size: 1, list: [{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }] },
        'spec.list',
        'FieldValueTooMany',
        'Too many: 4: must have at most 3 items',
      ],
      [{ size: 5, max: 4 }, 'spec', 'FieldValueInvalid', 'Invalid value: size must not exceed max'],
      [
        { size: 1, either: true },
        'spec.either',
        'FieldValueTypeInvalid',
        'Invalid value: "boolean": spec.either in body must be of type integer,string: "boolean"',
      ],
    ])('are refused with 422 for the spec %j', async (spec, field, reason, message) => {
      const subject = await makeSubject();
      const { make } = await gadgets(subject);
      const answer = await make('a', spec);
      expect([answer.status, at(answer.body, 'reason')]).toEqual([422, 'Invalid']);
      expect(listAt(answer.body, 'details.causes')).toContainEqual({ reason, message, field });
    });

    it.each([
      [{ since: '1h30m' }, 201],
      [{ since: '-1h' }, 201],
      [{ since: '4d' }, 201],
      [{ since: '2 weeks' }, 201],
      [{ since: '4 parsecs' }, 422],
      [{ template: { apiVersion: 'v1', kind: 'Pod', spec: { any: 'thing' } } }, 201],
      [{ template: { apiVersion: 'v1' } }, 422],
      [{ choice: { a: '1' } }, 201],
      [{ choice: {} }, 422],
      [{ choice: { a: '1', b: '2' } }, 422],
      [{ set: ['a', 'b'] }, 201],
      [{ set: ['a', 'a'] }, 422],
      [{ texts: { a: 'x' } }, 201],
      [{ texts: { a: 1 } }, 422],
      [{ nothing: null }, 201],
    ])('answer to the spec %j with %i', async (spec, status) => {
      const subject = await makeSubject();
      const { make } = await gadgets(subject);
      const answer = await make('a', { size: 1, ...spec });
      expect(answer.status).toBe(status);
    });

    it('are held to their rules about change', async () => {
      const subject = await makeSubject();
      const { path, make } = await gadgets(subject);
      await make('a', { size: 1 });
      const answer = await patch(subject, `${path}/a`, 'merge', { spec: { mode: 'Slow' } });
      expect([answer.status, at(answer.body, 'details.causes.0.message')]).toEqual([
        422,
        'Invalid value: mode must not change',
      ]);
    });

    it('get defaults, in what is given only', async () => {
      const subject = await makeSubject();
      const { make } = await gadgets(subject);
      expect(at((await make('a', { size: 1 })).body, 'spec')).toEqual({ size: 1, mode: 'Fast' });
      expect(at((await make('b', { size: 1, limits: {} })).body, 'spec.limits')).toEqual({ cpu: '1' });
      expect(at((await make('c', { size: 1, mode: null })).body, 'spec.mode')).toBe('Fast');
    });

    it('lose what their schema does not know, save where it is left open', async () => {
      const subject = await makeSubject();
      const { make } = await gadgets(subject);
      const answer = await make(
        'a',
        { size: 1, colour: 'red', open: { any: { thing: [1] } }, list: [{ name: 'a', other: 1 }] },
        { extra: 1 },
      );
      expect(at(answer.body, 'spec')).toEqual({
        size: 1,
        mode: 'Fast',
        open: { any: { thing: [1] } },
        list: [{ name: 'a' }],
      });
      expect(at(answer.body, 'extra')).toBeUndefined();
    });
  });
}
