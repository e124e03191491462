/** No sample, guide or example leaves open for whom a policy is and whether it acts: absent, both mean the most. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { blocks, DOCUMENTS, ROOT } from './documents.ts';

const policySchema = z.object({
  kind: z.literal('NodeLifecyclePolicy'),
  metadata: z.object({ name: z.string() }),
  spec: z.record(z.string(), z.unknown()).default({}),
});

/** Here it is left open on purpose. */
const LEFT_OPEN: Readonly<Record<string, string>> = {
  'examples/regressions/a-policy-status-that-is-refused.yaml: a-policy-status-that-its-schema-refuses: policy-1':
    'it has no spec at all',
  'examples/scenarios/repair-policy-status.yaml: repair-policy-that-states-no-reach: short': 'what the defaults do',
  'examples/scenarios/repair-policy-status.yaml: repair-policy-that-states-no-reach: stated':
    'a step states both of it',
  'examples/regressions/a-policy-without-a-block-was-readable-too.yaml: a-policy-without-a-block-was-readable-too: policy-1':
    'it has no spec at all, that is what once failed',
};

interface Shown {
  readonly where: string;
  readonly text: string;
}

const inDocuments: readonly Shown[] = DOCUMENTS.flatMap(document =>
  blocks(document).flatMap(({ language, lines }) => {
    if (language === 'yaml') return [{ where: document.file, text: lines.join('\n') }];
    // What a block of the shell gives to kubectl.
    return [...lines.join('\n').matchAll(/<<'YAML'\n([^]*?)\nYAML/g)].map(([, text = '']) => ({
      where: document.file,
      text,
    }));
  }),
);
const inFiles: readonly Shown[] = globSync('{deploy/samples,examples,test/cli}/**/*.yaml', { cwd: ROOT }).map(file => ({
  where: file,
  text: readFileSync(join(ROOT, file), 'utf8'),
}));

/** The policies in a value, also those that a scenario holds or makes. */
function policiesIn(value: unknown): readonly z.infer<typeof policySchema>[] {
  if (typeof value !== 'object' || value === null) return [];
  const parsed = policySchema.safeParse(value);
  return parsed.success ? [parsed.data] : Object.values(value).flatMap(policiesIn);
}

const scenarioSchema = z.object({ kind: z.literal('Scenario'), metadata: z.object({ name: z.string() }) });

const policies = [...inDocuments, ...inFiles].flatMap(({ where, text }) =>
  parseAllDocuments(text).flatMap(document => {
    const value: unknown = document.toJS();
    const scenario = scenarioSchema.safeParse(value);
    const place = scenario.success ? `${where}: ${scenario.data.metadata.name}` : where;
    return policiesIn(value).map(({ metadata, spec }) => ({ where: `${place}: ${metadata.name}`, spec }));
  }),
);

it('policies are found, in documents, files and scenarios', () => {
  expect(policies.length).toBeGreaterThan(300);
});

it('each states nodePoolSelector and mode, but those that leave it open on purpose', () => {
  expect(
    policies
      .filter(({ spec }) => !('nodePoolSelector' in spec && 'mode' in spec))
      .map(({ where }) => where)
      .toSorted(),
  ).toEqual(Object.keys(LEFT_OPEN).toSorted());
});
