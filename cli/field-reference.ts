/** `docs/fields.md`, made of the definitions and schemas that Curfew goes by, with examples out of `examples`. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { configSchema, parseConfig } from '../shared/contract/config-schema.ts';
import { isJsonObject } from '../shared/domain/json.ts';
import { customResourceDefinitions } from '../simulator/custom-resource-definitions.ts';
import type { Place } from '../simulator/scenario/scenario.ts';
import { asManifest } from './validate/manifest.ts';
import { createObjectChecker, isAccepted } from './validate/objects.ts';

const ROOT = join(import.meta.dirname, '..');
const EXAMPLES = 'examples/{policies,*/manifests}/*.yaml';
const SCENARIOS = 'examples/scenarios/*.yaml';

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: unknown;
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

interface Field {
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** All fields below, in the order of the schema; `[]` stands for each element of a list. */
function fieldsOf(schema: Schema, path = ''): readonly Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const here = path === '' ? name : `${path}.${name}`;
    const isRequired = schema.required?.includes(name) === true;
    const below = child.items === undefined ? fieldsOf(child, here) : fieldsOf(child.items, `${here}[]`);
    return [{ path: here, schema: child, isRequired }, ...below];
  });
}

function typeOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map(value => `\`${String(value)}\``).join(', ');
  if (schema['x-kubernetes-int-or-string'] === true) return 'number or percentage';
  if (schema.items !== undefined)
    return schema.items.properties === undefined ? `list of ${typeOf(schema.items)}` : 'list';
  const { type = 'object or text' } = schema;
  return typeof type === 'string' ? type : type.join(' or ');
}

type Visit = (path: string, value: unknown) => void;

function visit(value: unknown, path: string, at: Visit): void {
  at(path, value);
  if (Array.isArray(value)) for (const each of value) visit(each, `${path}[]`, at);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, child] of Object.entries(value)) visit(child, path === '' ? name : `${path}.${name}`, at);
  }
}

/** All objects and texts in the examples, wherever they stand in a file. */
function shown(): readonly unknown[] {
  const files = [EXAMPLES, SCENARIOS].flatMap(pattern => globSync(pattern, { cwd: ROOT }).toSorted());
  const found: unknown[] = [];
  for (const file of files) {
    for (const document of parseAllDocuments(readFileSync(join(ROOT, file), 'utf8'))) {
      if (document.errors.length === 0) visit(document.toJS(), '', (_, value) => found.push(value));
    }
  }
  return found;
}

/** The first value of each field in these, if it is short. */
function examplesIn(values: readonly unknown[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const value of values) {
    visit(value, '', (path, each) => {
      const text = JSON.stringify(each);
      if (path !== '' && !found.has(path) && (text?.length ?? 80) < 80) found.set(path, text);
    });
  }
  return found;
}

const NOWHERE = { file: '', placeOf: (): Place => ({ file: '', line: 1, column: 1, path: '' }) };

/** Examples from policies or rules that can be read; NodePools have a `repair` block as well. */
function examplesOf(kind: string, values: readonly unknown[]): ReadonlyMap<string, string> {
  const checker = createObjectChecker();
  const specs = values.flatMap(value => {
    const manifest = asManifest(value);
    if (manifest?.kind !== kind && manifest?.kind !== 'NodePool') return [];
    const checked = checker.check({ manifest, ...NOWHERE });
    if (checked === undefined || !isAccepted(checked)) return [];
    const isOwn = manifest.kind === kind;
    const { spec } = manifest;
    return [{ isOwn, spec: isOwn ? spec : { repair: isJsonObject(spec) ? spec['repair'] : undefined } }];
  });
  return examplesIn(specs.toSorted((one, other) => Number(other.isOwn) - Number(one.isOwn)).map(({ spec }) => spec));
}

/** Examples from configurations that can be read. */
function examplesOfConfig(values: readonly unknown[]): ReadonlyMap<string, string> {
  const texts = values.filter(each => typeof each === 'string').filter(each => /^\s*(#|\[|\w+ *=)/.test(each));
  return examplesIn(texts.map(parseConfig).map(parsed => (parsed.ok ? parsed.content : {})));
}

interface KeyDescription {
  readonly meaning: string;
  readonly byDefault: string;
}

/** Descriptions of all keys, from docs/configuration.md. */
function configDescriptions(): ReadonlyMap<string, KeyDescription> {
  const page = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8').split('## The mode of a policy')[0] ?? '';
  const found = new Map<string, KeyDescription>();
  let table = '';
  for (const line of page.split('\n').filter(each => each.startsWith('| '))) {
    const [keys = '', value = '', byDefault = ''] = line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map(text => text.trim());
    if (value === 'value') table = keys.includes('customDrain') ? 'customDrain.' : '';
    for (const [, key = ''] of keys.matchAll(/`\[*([\w.]+)\]*`/g))
      found.set(`${table}${key}`, { meaning: value, byDefault });
  }
  return found;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function table(
  fields: readonly Field[],
  examples: ReadonlyMap<string, string>,
  descriptions: ReadonlyMap<string, KeyDescription> = new Map(),
): string {
  const rows = fields.map(({ path, schema, isRequired }) => {
    // The actions of an entry are written as those of the block.
    const example = examples.get(path) ?? examples.get(path.replace(/(policies|conditions)\[\]\.(?=actions)/, ''));
    const byDefault = schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``;
    const columns = [
      `\`${path}\``,
      typeOf(schema),
      isRequired ? 'required' : descriptions.get(path)?.byDefault || byDefault,
      example === undefined ? '' : `\`${example}\``,
      schema.description ?? descriptions.get(path)?.meaning ?? '',
    ];
    return `| ${columns.map(cell).join(' | ')} |`;
  });
  return ['| field | type | default | example | meaning |', '|---|---|---|---|---|', ...rows].join('\n');
}

const specOf = (definition: string): Schema => {
  const crd = customResourceDefinitions().find(({ metadata }) => metadata.name === definition);
  const spec = z.object({ versions: z.array(z.object({ schema: z.object({ openAPIV3Schema: z.custom<Schema>() }) })) });
  return spec.parse(crd?.spec).versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {};
};

/** The page, and where it stands. */
export function fieldReference(): { readonly path: string; readonly text: string } {
  const values = shown();
  const config = z.custom<Schema>().parse(z.toJSONSchema(configSchema(), { io: 'input', unrepresentable: 'any' }));
  const text = `# Fields

**Reference.** Every field of a policy, a rule and the configuration. \`npm run generate\` makes this page of the schemas; the examples come from \`examples\`. \`kubectl explain nlp.spec\` says the same of a cluster.

An empty default means that nothing is set; the meaning says what then holds. \`[]\` stands for each element of a list. Durations are Go durations, as in \`1h30m\`.

## NodeLifecyclePolicy

Rules: [repair](node-repair.md), [protection](do-not-disrupt.md), [drain](drain.md#limits), [termination](terminations.md), [modes](configuration.md#the-mode-of-a-policy).

${table(fieldsOf(specOf('nodelifecyclepolicies.curfew.dev')), examplesOf('NodeLifecyclePolicy', values))}

## FinalizerRule

Rules: [FinalizerRules](finalizer-rules.md).

${table(fieldsOf(specOf('finalizerrules.curfew.dev')), examplesOf('FinalizerRule', values))}

## config.toml

Rules: [configuration](configuration.md), where the meanings come from.

${table(fieldsOf(config), examplesOfConfig(values), configDescriptions())}
`;
  return { path: 'docs/fields.md', text };
}
