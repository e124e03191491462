/** docs/fields.md is made of the schemas, and shows an example of nearly every field of a policy. */
import { expect, it } from 'vitest';
import { fieldReference } from '../../cli/field-reference.ts';
import { documentOf, rowsOf } from './observability.ts';

it('docs/fields.md is made of the code: npm run generate', () => {
  const { path, text } = fieldReference();
  expect(documentOf(path).text).toBe(text);
});

/** What its parent or its children say. */
const SAID_ELSEWHERE = /^`(featureGates|(userNamespaces|podDrainPolicies)\[\]\..*)`$/;
/** Nobody sets these. */
const WITHOUT_EXAMPLE = ['`partialDrainEntityMetricEnabled`', '`customDrain`', '`customDrain.templateMountPath`'];

it('each field has a type and a meaning, and an example out of what can be read', () => {
  const page = documentOf('docs/fields.md');
  const rows = ['NodeLifecyclePolicy', 'FinalizerRule', 'config.toml'].flatMap(kind => rowsOf(page, kind));
  expect(rows.length).toBeGreaterThan(130);
  const without = (column: number): readonly (string | undefined)[] =>
    rows.filter(row => (row[column] ?? '') === '').map(([field]) => field);
  expect(without(1)).toEqual([]);
  expect(without(3)).toEqual(WITHOUT_EXAMPLE);
  expect(without(4).filter(field => !SAID_ELSEWHERE.test(field ?? ''))).toEqual([]);
});
