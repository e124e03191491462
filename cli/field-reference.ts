/** `docs/fields.md`, made of the definitions and schemas that Curfew goes by, with examples out of `examples`. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { configSchema } from '../shared/contract/config-schema.ts';
import { customResourceDefinitions } from '../simulator/custom-resource-definitions.ts';

const ROOT = join(import.meta.dirname, '..');
const EXAMPLES = 'examples/{policies,*/manifests}/*.yaml';
const SCENARIOS = 'examples/scenarios/{repair,drain,do-not-disrupt,finalizer}-*.yaml';
const SHOWS_MISTAKES = /refuses|bad-|cannot|unknown|invalid|ignores|values-that-are-none|settings/;

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

const object = z.object({ kind: z.string(), spec: z.unknown() });

/** The first value of each field that an example gives to an object of this kind, wherever it stands in a file. */
function examplesOf(kind: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const take: Visit = (path, value) => {
    const text = JSON.stringify(value);
    if (path !== '' && !found.has(path) && text.length < 80) found.set(path, text);
  };
  const files = [EXAMPLES, SCENARIOS].flatMap(pattern => globSync(pattern, { cwd: ROOT }).toSorted());
  for (const file of files.filter(each => !SHOWS_MISTAKES.test(each))) {
    for (const document of parseAllDocuments(readFileSync(join(ROOT, file), 'utf8'))) {
      visit(document.errors.length === 0 ? document.toJS() : null, '', (_, value) => {
        const parsed = object.safeParse(value);
        if (parsed.success && parsed.data.kind === kind) visit(parsed.data.spec, '', take);
      });
    }
  }
  return found;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function table(fields: readonly Field[], examples: ReadonlyMap<string, string>): string {
  const rows = fields.map(({ path, schema, isRequired }) => {
    const example = examples.get(path);
    const byDefault = schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``;
    const columns = [
      `\`${path}\``,
      typeOf(schema),
      isRequired ? 'required' : byDefault,
      example === undefined ? '' : `\`${example}\``,
      schema.description ?? '',
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
  const config = z.custom<Schema>().parse(z.toJSONSchema(configSchema(), { io: 'input', unrepresentable: 'any' }));
  const text = `# Fields

**Reference.** Every field of a policy, a rule and the configuration. \`npm run generate\` makes this page of the schemas; the examples come from \`examples\`. \`kubectl explain nlp.spec\` says the same of a cluster.

An empty default means that nothing is set; the meaning says what then holds. \`[]\` stands for each element of a list. Durations are Go durations, as in \`1h30m\`.

## NodeLifecyclePolicy

Rules: [repair](node-repair.md), [protection](do-not-disrupt.md), [drain](drain.md#limits), [termination](terminations.md), [modes](configuration.md#the-mode-of-a-policy).

${table(fieldsOf(specOf('nodelifecyclepolicies.curfew.dev')), examplesOf('NodeLifecyclePolicy'))}

## FinalizerRule

Rules: [FinalizerRules](finalizer-rules.md).

${table(fieldsOf(specOf('finalizerrules.curfew.dev')), examplesOf('FinalizerRule'))}

## config.toml

Meanings and defaults: [configuration](configuration.md).

${table(fieldsOf(config), new Map())}
`;
  return { path: 'docs/fields.md', text };
}
