/** docs/fields.md is made of the schemas, and shows an example of nearly every field of a policy. */
import { expect, it } from 'vitest';
import { fieldReference } from '../../cli/field-reference.ts';
import { documentOf, rowsOf } from './observability.ts';

it('docs/fields.md is made of the code: npm run generate', () => {
  const { path, text } = fieldReference();
  expect(documentOf(path).text).toBe(text);
});

it('each field of a policy and a rule has an example or a meaning', () => {
  const page = documentOf('docs/fields.md');
  const rows = ['NodeLifecyclePolicy', 'FinalizerRule'].flatMap(kind => rowsOf(page, kind));
  expect(rows.length).toBeGreaterThan(60);
  const bare = rows.filter(([, , , example = '', meaning = '']) => example === '' && meaning === '');
  expect(bare.map(([field]) => field)).toEqual([]);
});
