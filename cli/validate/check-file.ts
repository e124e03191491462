/** Checks one file, whatever of Curfew's it holds. */
import { basename, dirname, join } from 'node:path';
import { parseConfig } from '../../shared/contract/config-schema.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import type { HealthEvent } from '../../shared/domain/health-event.ts';
import { isMisspelling } from '../../shared/domain/nearest-name.ts';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import type { ResourceCatalog } from '../../simulator/scenario/resource-names.ts';
import { checkConfiguration } from './configuration.ts';
import type { SourceFile } from './files.ts';
import type { Checked } from './finding.ts';
import { asManifest, type Manifest, type ObjectChecker } from './objects.ts';
import { textsOf } from '../texts-of.ts';
import { readYaml, type SourceDocument } from './yaml-source.ts';

export interface CheckContext {
  readonly objects: ObjectChecker;
  readonly catalog: ResourceCatalog;
  /** What templates are rendered for; undefined: a sample. */
  readonly event: HealthEvent | undefined;
  /** In place of the template that a configuration names. */
  readonly template: { readonly file: string; readonly text: string } | undefined;
  /** The text of another file of the command line or of the same folder. */
  readonly readSibling: (file: string) => Promise<string | undefined>;
}

/** What was checked in it; nothing for a file that was found and holds nothing of Curfew's. */
export async function checkFile(source: SourceFile, context: CheckContext): Promise<readonly Checked[]> {
  if (source.file.endsWith('.toml')) return [await checkToml(source, context)];
  const { file, text, found } = source;
  const { documents, findings } = readYaml(text, file);
  if (findings.length > 0) {
    // Among other files, a template is no YAML; who uses it has checked it.
    return found && text.includes('{{') ? [] : [{ file, kind: 'YAML', name: basename(file), findings }];
  }
  if (documents.some(({ value }) => asManifest(value)?.kind === 'Scenario')) return [checkScenarios(source, context)];
  const checked = documents.flatMap(document => checkDocument(file, document, context));
  if (checked.length > 0 || found) return checked;
  const message = 'holds nothing that Curfew reads: no configuration, policy, FinalizerRule, NodePool or Scenario';
  return [{ file, kind: 'YAML', name: basename(file), findings: [{ file, line: 1, path: '', message }] }];
}

async function checkToml({ file, text }: SourceFile, { event, template, readSibling }: CheckContext): Promise<Checked> {
  const parsed = parseConfig(text);
  const key = parsed.ok ? parsed.value.drain?.customDrain?.templateFileName : undefined;
  const templateFile = key === undefined ? undefined : (template?.file ?? join(dirname(file), key));
  const templateText = templateFile === undefined ? undefined : (template?.text ?? (await readSibling(templateFile)));
  return checkConfiguration(
    {
      file,
      name: basename(file),
      data: { [CONFIG_MAP.key]: text, ...(key !== undefined && templateText !== undefined && { [key]: templateText }) },
      locate: (part, line) => ({ file: part === CONFIG_MAP.key ? file : (templateFile ?? file), line }),
    },
    event,
  );
}

function checkScenarios({ file, text }: SourceFile, { catalog }: CheckContext): Checked {
  const parsed = parseScenarios(text, file, catalog);
  const faults = parsed.ok ? parsed.scenarios.flatMap(({ doubts }) => doubts) : parsed.faults;
  const findings = faults.map(({ place, message }) => ({ file, line: place.line, path: place.path, message }));
  const name = parsed.ok ? parsed.scenarios.map(scenario => scenario.name).join(', ') : basename(file);
  return { file, kind: 'Scenario', name, findings };
}

function checkDocument(file: string, document: SourceDocument, context: CheckContext): Checked[] {
  const manifest = asManifest(document.value);
  if (manifest === undefined) return [];
  const { kind, items } = manifest;
  if (kind.endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item: unknown, index) => {
      const each = asManifest(item);
      const checked = each && context.objects.check(file, each, document, ['items', index]);
      return checked === undefined ? [] : [checked];
    });
  }
  if (kind === 'ConfigMap') return checkConfigMap(file, document, manifest, context);
  const checked = context.objects.check(file, manifest, document, []);
  return checked === undefined ? [] : [checked];
}

function checkConfigMap(
  file: string,
  { lineOf, textLineOf }: SourceDocument,
  { data, metadata: { name } }: Manifest,
  { event, template }: CheckContext,
): Checked[] {
  const keys: Record<string, string> = { ...textsOf(data) };
  const text = keys[CONFIG_MAP.key];
  if (text === undefined) {
    const meant = Object.keys(keys).find(key => name === CONFIG_MAP.name && isMisspelling(key, [CONFIG_MAP.key]));
    if (meant === undefined) return [];
    const message = `unknown key, did you mean "${CONFIG_MAP.key}"?`;
    const path = `data["${meant}"]`;
    return [{ file, kind: 'ConfigMap', name, findings: [{ file, line: lineOf(['data', meant]), path, message }] }];
  }
  const parsed = parseConfig(text);
  const templateKey = parsed.ok ? parsed.value.drain?.customDrain?.templateFileName : undefined;
  if (templateKey !== undefined && template !== undefined) keys[templateKey] = template.text;
  return [
    checkConfiguration(
      {
        file,
        name,
        data: keys,
        locate: (key, line) =>
          key === templateKey && template !== undefined
            ? { file: template.file, line }
            : { file, line: textLineOf(['data', key]) + line - 1 },
      },
      event,
    ),
  ];
}
