/** Names in the store outlive those in the code: what a released version wrote is read, and what is written it can read. */
import { expect, it } from 'vitest';
import * as z from '../../../shared/contract/zod.ts';
import { checkedCodec, storedUnder } from '../../../shared/lifecycle/record-codec.ts';

const schema = z.object({ otherEntries: z.exactOptional(z.array(z.string())), phase: z.string() });
const codec = storedUnder({ otherEntries: 'others' }, checkedCodec('finalizer', schema, 2));

it('reads a field under the name that it is stored under', () => {
  expect(codec.parse({ others: ['b'], phase: 'held' })).toEqual({ otherEntries: ['b'], phase: 'held' });
});

it('writes it under that name, and the others under their own', () => {
  expect(codec.toState({ otherEntries: ['b'], phase: 'held' })).toEqual({ others: ['b'], phase: 'held' });
});

it('leaves out what is absent', () => {
  expect(codec.toState({ phase: 'held' })).toEqual({ phase: 'held' });
});

it('refuses what the schema does not know', () => {
  expect(() => codec.parse({ others: 'b', phase: 'held' })).toThrow('otherEntries');
});
