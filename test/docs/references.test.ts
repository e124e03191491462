/** A reference has each field that the schema takes: scenarios, the configuration, the policies, the options of commands. */
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { configSchema } from '../../shared/contract/config-schema.ts';
import { configSchema as deploymentSchema } from '../../infra/config.ts';
import { scenarioSchema } from '../../simulator/scenario/schema.ts';
import { runHere } from '../cli/run-curfew.ts';
import { blocks, COMMAND_DEFINITIONS, DOCUMENTS, ROOT } from './documents.ts';
import { documentOf } from './observability.ts';

/** Every key of a JSON Schema's objects, at any depth that the schema names itself. */
function keysOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const properties: unknown = Reflect.get(schema, 'properties');
  const own = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return [...own, ...Object.values(schema).flatMap(keysOf)];
}

/** What every object has, and label selectors. */
const OF_KUBERNETES = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'spec',
  'status',
  'matchExpressions',
  'observedGeneration',
]);

const input = (schema: z.core.$ZodType): unknown => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

const textOf = (...files: readonly string[]): string => files.map(file => documentOf(file).text).join('\n');

it.each([
  [
    'nodelifecyclepolicies.curfew.dev',
    ['docs/node-repair.md', 'docs/do-not-disrupt.md', 'docs/terminations.md', 'docs/drain.md'],
  ],
  ['finalizerrules.curfew.dev', ['docs/finalizer-rules.md', 'examples/managed-database/README.md']],
] as const)('%s: each field of spec and status is in %j', (definition, files) => {
  const crd = customResourceDefinitions().find(({ metadata }) => metadata.name === definition);
  const words = new Set(textOf(...files).match(/[\w-]+/g));
  const keys = [...new Set(keysOf(crd?.spec))].filter(key => !OF_KUBERNETES.has(key));
  expect(keys.length).toBeGreaterThan(10);
  expect(keys.filter(key => !words.has(key))).toEqual([]);
});

it('the documents name every command and option of curfew', () => {
  const text = DOCUMENTS.map(each => each.text).join('\n');
  const names = [
    ...[...COMMAND_DEFINITIONS.matchAll(/\.command\('([\w-]+)'\)/g)].map(([, name = '']) => name),
    ...new Set(COMMAND_DEFINITIONS.match(/--[a-z][a-z-]*/g)),
  ];
  expect(names.length).toBeGreaterThan(40);
  expect(names.filter(name => !new RegExp(`${name}\\b`).test(text))).toEqual([]);
});

it.each([
  ['docs/scenarios.md', scenarioSchema],
  ['docs/configuration.md', configSchema()],
  ['docs/deploying.md', deploymentSchema],
] as const)('%s names every field of its schema', (file, schema) => {
  const words = new Set(documentOf(file).text.match(/[\w-]+/g));
  const keys = [...new Set(keysOf(input(schema)))];
  expect(keys.length).toBeGreaterThan(15);
  expect(keys.filter(key => !words.has(key))).toEqual([]);
});

it('docs/adr/README.md lists every decision with its title and status', () => {
  const folder = join(ROOT, 'docs/adr');
  const decisions = globSync('0*.md', { cwd: folder }).toSorted();
  const listed = readFileSync(join(folder, 'README.md'), 'utf8')
    .split('\n')
    .filter(line => line.startsWith('| ['));
  expect(decisions.length).toBeGreaterThan(10);
  expect(listed).toEqual(
    decisions.map(file => {
      const text = readFileSync(join(folder, file), 'utf8');
      const title = /^# \d+ (.*)$/m.exec(text)?.[1];
      const status = /^Status: (.*)$/m.exec(text)?.[1];
      return `| [${file.slice(0, 4)}](${file}) | ${title} | ${status} |`;
    }),
  );
});

it('examples/README.md lists every example', () => {
  const folders = readdirSync(join(ROOT, 'examples'), { withFileTypes: true }).filter(entry => entry.isDirectory());
  const { text } = documentOf('examples/README.md');
  expect(folders.length).toBeGreaterThan(3);
  expect(folders.map(({ name }) => name).filter(name => !text.includes(`\`${name}\``))).toEqual([]);
});

it('docs/forwarder.md has every setting of the forwarder', () => {
  const { text } = documentOf('docs/forwarder.md');
  const source = readFileSync(join(ROOT, 'forwarder/config.ts'), 'utf8');
  const [, options = ''] = source.split('const OPTIONS');
  const settings = [...options.matchAll(/^ {2}'?([a-z-]+)'?: \{/gm)].map(([, name = '']) => name);
  expect(settings.length).toBeGreaterThan(10);
  expect(settings.filter(name => !text.includes(`\`--${name}\``))).toEqual([]);
});

describe('the policies, rules, configurations and scenarios that documents show', () => {
  const shown = DOCUMENTS.flatMap(document =>
    blocks(document)
      .map(({ language, lines }) => ({ file: document.file, language, text: lines.join('\n') }))
      .filter(({ language, text }) =>
        language === 'yaml' ? /^kind: (NodeLifecyclePolicy|FinalizerRule|Scenario)$/m.test(text) : language === 'toml',
      ),
  );
  const folder = mkdtempSync(join(tmpdir(), 'curfew-docs-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are found', () => expect(shown.length).toBeGreaterThan(5));

  it.each(shown.map((each, index) => [index, each.file, each] as const))(
    '%i: %s',
    async (index, _, { language, text }) => {
      const file = join(folder, `${index}.${language}`);
      writeFileSync(file, text);
      const { code, stdout, stderr } = await runHere(['validate', file]);
      expect({ code, said: stdout + stderr }).toMatchObject({ code: 0 });
    },
  );
});

it('docs/internals/dependencies.md has each package of package.json, and no other', () => {
  const names = z.record(z.string(), z.string());
  const manifest = z.object({ dependencies: names, devDependencies: names, optionalDependencies: names });
  const all = Object.values(manifest.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))));
  const used = all.flatMap(each => Object.keys(each)).filter(name => !name.startsWith('@curfew/'));
  const listed = [...documentOf('docs/internals/dependencies.md').text.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(
    ([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
  const lists = (pattern: string, name: string): boolean =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
  expect(used.filter(name => !listed.some(pattern => lists(pattern, name)))).toEqual([]);
  expect(listed.filter(pattern => !used.some(name => lists(pattern, name)))).toEqual([]);
});
