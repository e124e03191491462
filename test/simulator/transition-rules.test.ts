/** What a CustomResourceDefinition lets nobody change (`oldSelf` in its rules), no step changes. */
import { describe, expect, it } from 'vitest';
import { formatNotes } from '../../simulator/report.ts';
import { simulate, story } from './simulate.ts';

const RULE = { resource: 'finalizerrules', name: 'databases' };
const APPLY_RULE = `apiVersion: curfew.dev/v1alpha1, kind: FinalizerRule, metadata: { name: databases }`;
const OBJECTS = `  objects:
    - apiVersion: curfew.dev/v1alpha1
      kind: FinalizerRule
      metadata: { name: databases }
      spec: { group: db.example.com, version: v1, kind: Db, finalizerName: db.example.com/cleanup, cleanup: { lambda: { functionName: f } } }
`;

async function afterStep(step: string, objects = OBJECTS) {
  const result = await simulate(`${objects}  steps:\n    - { at: 1m, ${step} }\n`);
  const { spec } = result.core.get({ type: { group: 'curfew.dev', version: 'v1alpha1', ...RULE }, name: RULE.name });
  return { spec, steps: story(result, 'scenario'), notes: formatNotes(result), violations: result.violations };
}

const patch = (merge: string): string => `patch: { resource: finalizerrules, name: databases, merge: ${merge} }`;

describe('a step that edits a FinalizerRule', () => {
  it.each([
    patch('{ spec: { finalizerName: db.example.com/other } }'),
    patch('{ spec: { kind: Other } }'),
    patch('{ spec: { group: null } }'),
    patch('{ spec: { finalizerName: null } }'),
    `apply: { ${APPLY_RULE}, spec: { finalizerName: db.example.com/other } }`,
  ])('is refused as by the API server, and a note at its line says so: %s', async step => {
    const { spec, steps, notes, violations } = await afterStep(step);
    expect(spec).toMatchObject({ group: 'db.example.com', kind: 'Db', finalizerName: 'db.example.com/cleanup' });
    const [done] = steps;
    expect(done).toContain('(refused: FinalizerRule.curfew.dev "databases" is invalid: spec: Invalid value: ');
    expect(notes).toEqual([
      expect.stringMatching(/^.*:13:7: note: spec\.steps\[0\]: refused: FinalizerRule\.curfew\.dev/),
    ]);
    expect(violations).toEqual([]);
  });

  it.each([
    [patch('{ spec: { deadline: 5m } }'), { deadline: '5m' }],
    [patch('{ spec: { finalizerName: db.example.com/cleanup } }'), { finalizerName: 'db.example.com/cleanup' }],
    [`apply: { ${APPLY_RULE}, spec: { version: v2 } }`, { version: 'v2' }],
  ])('is carried out where nothing of that changes: %s', async (step, expected) => {
    const { spec, steps, notes } = await afterStep(step);
    expect(spec).toMatchObject(expected);
    expect(steps.join()).not.toContain('refused');
    expect(notes).toEqual([]);
  });

  it('mends a rule that no API server would have let in', async () => {
    const broken = OBJECTS.replace('finalizerName: db.example.com/cleanup, ', '');
    const { spec } = await afterStep(patch('{ spec: { finalizerName: db.example.com/cleanup } }'), broken);
    expect(spec).toMatchObject({ finalizerName: 'db.example.com/cleanup' });
  });

  it('makes another one where the first is gone', async () => {
    const result = await simulate(`${OBJECTS}  steps:
    - { at: 1m, delete: { resource: finalizerrules, name: databases } }
    - { at: 10m, apply: { ${APPLY_RULE}, spec: { version: v1, kind: Db, group: db.example.com, finalizerName: db.example.com/other, cleanup: { lambda: { functionName: f } } } } }
  expect:
    - { final: { resource: finalizerrules, name: databases, match: { spec: { finalizerName: db.example.com/other } } } }
`);
    expect(result.verdicts.map(({ holds }) => holds)).toEqual([true]);
    expect(result.notes).toEqual([]);
  });
});
