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
  spec: z.record(z.string(), z.unknown()),
});

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
const inFiles: readonly Shown[] = globSync(
  '{deploy/samples,examples/policies,examples/playground,examples/*/manifests,examples/scenarios/bad-day}/*.yaml',
  { cwd: ROOT },
).map(file => ({ where: file, text: readFileSync(join(ROOT, file), 'utf8') }));

const policies = [...inDocuments, ...inFiles].flatMap(({ where, text }) =>
  parseAllDocuments(text).flatMap(document => {
    const parsed = policySchema.safeParse(document.toJSON());
    return parsed.success ? [{ where: `${where}: ${parsed.data.metadata.name}`, spec: parsed.data.spec }] : [];
  }),
);

it('policies are found, in documents and in files', () => {
  expect(policies.length).toBeGreaterThan(20);
});

it('each states nodePoolSelector and mode', () => {
  expect(
    policies.filter(({ spec }) => !('nodePoolSelector' in spec && 'mode' in spec)).map(({ where }) => where),
  ).toEqual([]);
});
