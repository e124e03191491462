/** Checks one file, whatever of Curfew's it holds. */
import { basename, dirname, join } from 'node:path';
import { parseConfig } from '../../shared/contract/config-schema.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import type { HealthEvent } from '../../shared/domain/health-event.ts';
import { isMisspelling } from '../../shared/domain/nearest-name.ts';
import { findingAt, toFinding, type Finding } from '../../simulator/scenario/finding.ts';
import { formatPath } from '../../simulator/scenario/places.ts';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import type { ResourceCatalog } from '../../simulator/scenario/resource-names.ts';
import { textsOf } from '../texts-of.ts';
import type { CheckedInput } from './checked.ts';
import { checkConfiguration } from './configuration.ts';
import type { SourceFile } from './files.ts';
import { asManifest, type Manifest } from './manifest.ts';
import { halfNamed, type ObjectChecker, type PlacedObject } from './objects.ts';
import { readYaml, type SourceDocument } from './yaml-source.ts';

export interface CheckContext {
  readonly objects: ObjectChecker;
  readonly catalog: ResourceCatalog;
  /** The event for which templates are rendered; undefined: a sample. */
  readonly event: HealthEvent | undefined;
  /** In place of the template that a configuration names. */
  readonly template: { readonly file: string; readonly text: string } | undefined;
  /** The text of another file of the command line or of the same folder. */
  readonly readSibling: (file: string) => Promise<string | undefined>;
}

/** A checked part of a file, with the object that it is about. */
export interface CheckedPart {
  readonly checked: CheckedInput;
  readonly object?: PlacedObject;
  /** Keys of the ConfigMap that Curfew reads. */
  readonly templates?: Readonly<Record<string, string>>;
}

/** Checks a file. Answers nothing for a file that was found in a folder and holds nothing of Curfew's. */
export async function checkFile(source: SourceFile, context: CheckContext): Promise<readonly CheckedPart[]> {
  if (source.file.endsWith('.toml')) return [{ checked: await checkToml(source, context) }];
  const { file, text, found } = source;
  const { documents, findings } = readYaml(text, file);
  if (documents.some(({ value }) => asManifest(value)?.kind === 'Scenario'))
    return [{ checked: checkScenarios(source, context) }];
  const parts = documents.flatMap(document => checkDocument(file, document, context));
  if (findings.length > 0) {
    // Among other files, a template is no YAML; who uses it has checked it. Nor is a JSON with comments ours.
    const isOthers = found && parts.length === 0 && (text.includes('{{') || file.endsWith('.json'));
    return isOthers ? [] : [{ checked: { file, kind: 'YAML', name: basename(file), findings } }, ...parts];
  }
  if (parts.length > 0 || found) return parts;
  const message = 'holds nothing that Curfew reads: no configuration, policy, FinalizerRule, NodePool or Scenario';
  const nothing = findingAt({ file, line: 1, path: '' }, message);
  return [{ checked: { file, kind: 'YAML', name: basename(file), findings: [nothing] } }];
}

async function checkToml(
  { file, text }: SourceFile,
  { event, template, readSibling }: CheckContext,
): Promise<CheckedInput> {
  const parsed = parseConfig(text);
  const key = parsed.ok ? parsed.value.drain?.customDrain?.templateFileName : undefined;
  const templateFile = key === undefined ? undefined : (template?.file ?? join(dirname(file), key));
  const templateText = templateFile === undefined ? undefined : (template?.text ?? (await readSibling(templateFile)));
  return checkConfiguration(
    {
      file,
      name: basename(file),
      data: { [CONFIG_MAP.key]: text, ...(key !== undefined && templateText !== undefined && { [key]: templateText }) },
      locate: (part, line) => ({ file: part === CONFIG_MAP.key ? file : (templateFile ?? file), line, indent: 0 }),
    },
    event,
  );
}

function checkScenarios({ file, text }: SourceFile, { catalog }: CheckContext): CheckedInput {
  const parsed = parseScenarios(text, file, catalog);
  const findings = parsed.ok
    ? parsed.scenarios.flatMap(({ doubts }) => doubts.map(doubt => toFinding(doubt)))
    : parsed.faults.map(fault => toFinding(fault));
  const name = parsed.ok ? parsed.scenarios.map(scenario => scenario.name).join(', ') : basename(file);
  return { file, kind: 'Scenario', name, findings };
}

function checkDocument(file: string, document: SourceDocument, context: CheckContext): readonly CheckedPart[] {
  const manifest = asManifest(document.value);
  if (manifest === undefined) {
    const half = halfNamed(document.value);
    if (half === undefined) return [];
    const finding = findingAt({ ...document.placeOf([half.has]), path: half.lacks }, half.message);
    return [{ checked: { file, kind: 'YAML', name: basename(file), findings: [finding] } }];
  }
  const { kind, items } = manifest;
  const check = (each: Manifest, base: readonly PropertyKey[]): readonly CheckedPart[] => {
    const object = { manifest: each, file, placeOf: placeBelow(document, base) };
    const checked = context.objects.check(object);
    return checked === undefined ? [] : [{ checked, object }];
  };
  if (kind.endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item: unknown, index) => {
      const each = asManifest(item);
      return each === undefined ? [] : check(each, ['items', index]);
    });
  }
  if (kind === 'ConfigMap') return checkConfigMap(file, document, manifest, context);
  return check(manifest, []);
}

/** A path in an item of a List is said as that of the item. */
const placeBelow =
  ({ placeOf }: SourceDocument, base: readonly PropertyKey[]): PlacedObject['placeOf'] =>
  path => ({ ...placeOf([...base, ...path]), path: formatPath(path) });

function checkConfigMap(
  file: string,
  { placeOf, textAt }: SourceDocument,
  { data, metadata }: Manifest,
  { event, template }: CheckContext,
): readonly CheckedPart[] {
  const { name } = metadata;
  const keys: Record<string, string> = { ...textsOf(data) };
  const text = keys[CONFIG_MAP.key];
  if (text === undefined) {
    const meant = Object.keys(keys).find(key => name === CONFIG_MAP.name && isMisspelling(key, [CONFIG_MAP.key]));
    if (meant === undefined) return [];
    const message = `unknown key, did you mean "${CONFIG_MAP.key}"?`;
    return [{ checked: { file, kind: 'ConfigMap', name, findings: [findingAt(placeOf(['data', meant]), message)] } }];
  }
  const parsed = parseConfig(text);
  const templateKey = parsed.ok ? parsed.value.drain?.customDrain?.templateFileName : undefined;
  if (templateKey !== undefined && template !== undefined) keys[templateKey] = template.text;
  const checked = checkConfiguration(
    {
      file,
      name,
      data: keys,
      locate(key, line) {
        if (key === templateKey && template !== undefined) return { file: template.file, line, indent: 0 };
        const { line: first, indent } = textAt(['data', key]);
        return { file, line: first + line - 1, indent };
      },
    },
    event,
  );
  const elsewhere = unread(metadata, placeOf);
  const findings = [...elsewhere, ...checked.findings];
  return [{ checked: { ...checked, findings }, ...(elsewhere.length === 0 && { templates: keys }) }];
}

/**
 * Reports that nobody reads a ConfigMap of this name and namespace; one that clearly belongs to somebody else is only
 * worth a note.
 */
function unread({ name, namespace }: Manifest['metadata'], placeOf: SourceDocument['placeOf']): readonly Finding[] {
  const isNamed = name === CONFIG_MAP.name;
  const isPlaced = namespace === CONFIG_MAP.namespace;
  if (isNamed && (isPlaced || namespace === undefined)) return [];
  const isMeant = isNamed || isPlaced || isMisspelling(name, [CONFIG_MAP.name]);
  const message = `is not in force: Curfew reads ConfigMap ${CONFIG_MAP.namespace}/${CONFIG_MAP.name}`;
  return [findingAt(placeOf(['metadata', isNamed ? 'namespace' : 'name']), message, isMeant ? 'warning' : 'note')];
}
