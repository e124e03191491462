import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXPECTED, expectation } from '../../../simulator/scenario/expectation-schema.ts';
import { STEP_ACTIONS } from '../../../simulator/scenario/schema.ts';

const REFERENCE = readFileSync('docs/scenarios.md', 'utf8');
const section = (title: string): string => REFERENCE.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

describe('docs/scenarios.md', () => {
  it.each(Object.keys(STEP_ACTIONS))('describes the step %s', field => {
    expect(section('Steps')).toContain(`| \`${field}\` |`);
  });

  it.each([
    ...Object.keys(expectation.shape),
    ...Object.keys(EXPECTED.write.shape),
    ...Object.keys(EXPECTED.event.shape),
    ...Object.keys(EXPECTED.audit.shape),
  ])('describes the field %s of expectations', field => {
    expect(section('Expectations')).toContain(`\`${field}\``);
  });
});
