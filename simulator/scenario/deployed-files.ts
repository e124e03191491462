/**
 * What `files` of a scenario stand for: manifests, `config.toml` and templates as they are deployed. Of what stands beside them in a
 * folder, kinds that the simulated cluster does not serve are passed over, as are its own definitions and other scenarios.
 */
import { basename } from 'node:path';
import { LineCounter, parseAllDocuments } from 'yaml';
import { parseApiVersion } from '../../shared/domain/kubernetes-object.ts';
import { didYouMean, isMisspelling, nearestName } from '../../shared/domain/nearest-name.ts';
import { CONFIG_MAP, CURFEW_GROUP } from '../../shared/contract/names.ts';
import { messageOf } from '../../shared/errors.ts';
import { describeYamlFailure } from './yaml-failures.ts';
import { readValue } from './yaml-value.ts';
import { placeAt, placeOf, type Path } from './places.ts';
import { resourceOfManifest, type KnownResource } from './resource-names.ts';
import type { Place, ScenarioFault } from './scenario.ts';
import { readSourceTexts, type SourceText } from './source-files.ts';

/** A value of a file, with the places of its parts. */
export interface PlacedValue {
  readonly value: Readonly<Record<string, unknown>>;
  readonly locate: (path: Path) => Place;
}

export interface DeployedFiles {
  readonly manifests: readonly PlacedValue[];
  readonly config: { readonly text: string; readonly place: Place } | undefined;
  /** Other keys of Curfew's ConfigMap. */
  readonly templates: Readonly<Record<string, string>>;
  readonly faults: readonly ScenarioFault[];
}

interface Deployment {
  /** The scenario's own file. */
  readonly file: string;
  readonly paths: readonly string[];
  /** What the cluster serves, beside what definitions in the files add. */
  readonly known: readonly KnownResource[];
  /** The rest of the scenario, which may name templates too. */
  readonly document: unknown;
  /** Where an entry of `files` stands. */
  readonly locate: (index: number) => Place;
}

export function readDeployedFiles({ file, paths, known, document, locate }: Deployment): DeployedFiles {
  const { texts, faults: unread } = readSourceTexts(paths, file);
  const faults: ScenarioFault[] = unread.map(({ index, message }) => ({ place: locate(index), message }));
  const [config, ...otherConfigs] = texts.filter(isConfig);
  for (const other of otherConfigs.filter(each => each.text !== config?.text))
    faults.push(alreadyIn(other, 'the configuration', config));

  const sources = texts
    .filter(each => !each.file.endsWith('.toml'))
    .map(source => ({ source, ...readDocuments(source) }));
  const isDeployed = isDeployedIn(
    sources.flatMap(({ values }) => values),
    known,
  );
  const deployed = sources.flatMap(({ values }) => values.filter(isDeployed));
  const mentions = `${config?.text ?? ''}\n${JSON.stringify([document, deployed.map(({ value }) => value)])}`;
  const isTemplate = ({ file: name }: SourceText): boolean => isMentioned(basename(name), mentions);

  const templates = new Map<string, SourceText>();
  const manifests: PlacedValue[] = [];
  for (const { source, values, fault } of sources) {
    const key = basename(source.file);
    const first = templates.get(key);
    if (first !== undefined) {
      if (first.text !== source.text) faults.push(alreadyIn(source, `the template ${key}`, first));
    } else if (isTemplate(source)) templates.set(key, source);
    else if (fault !== undefined) {
      // Among other files, a template of somebody else's is no YAML.
      if (!source.isFound || !source.text.includes('{{')) faults.push(fault);
    } else {
      faults.push(...values.flatMap(each => misspeltKind(each, known)));
      manifests.push(...values.filter(isDeployed));
      if (!source.isFound && values.length === 0) {
        faults.push({ place: startOf(source), message: 'holds no manifest, and nothing names it as a template' });
      }
    }
  }
  const ofConfig = config && { text: config.text, place: startOf(config) };
  const ofFiles = Object.fromEntries([...templates].map(([key, { text }]) => [key, text]));
  return withConfigMap({ manifests: distinct(manifests), config: ofConfig, templates: ofFiles, faults });
}

/** A copy that says the same, as a chart has one, is no second object. */
function distinct(manifests: readonly PlacedValue[]): readonly PlacedValue[] {
  const seen = new Set<string>();
  return manifests.filter(({ value }) => {
    const text = JSON.stringify(value);
    return seen.has(text) ? false : seen.add(text);
  });
}

/** Curfew's ConfigMap among the manifests is the configuration, with the templates that it has. */
function withConfigMap(files: DeployedFiles): DeployedFiles {
  const { manifests, config, templates, faults } = files;
  const [map, ...others] = manifests.filter(isConfigMap);
  if (map === undefined) return files;
  const place = map.locate([]);
  const data = isRecord(map.value['data']) ? map.value['data'] : {};
  const entries = Object.entries(data).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const { [CONFIG_MAP.key]: text, ...keys } = Object.fromEntries(entries);
  const first = config?.place ?? place;
  const second = config === undefined ? others[0]?.locate([]) : place;
  const message = `the configuration stands in ${first.file} already`;
  return {
    manifests: manifests.filter(each => !isConfigMap(each)),
    config: config ?? (text === undefined ? undefined : { text, place }),
    templates: { ...templates, ...keys },
    faults: second === undefined ? faults : [...faults, { place: second, message }],
  };
}

function isConfigMap({ value: { kind, metadata } }: PlacedValue): boolean {
  if (kind !== 'ConfigMap' || !isRecord(metadata)) return false;
  const { name, namespace = CONFIG_MAP.namespace } = metadata;
  return name === CONFIG_MAP.name && namespace === CONFIG_MAP.namespace;
}

const startOf = ({ file }: SourceText): Place => ({ file, line: 1, path: '' });

/** In a folder, other tools have settings in TOML as well. */
const isConfig = ({ file, isFound }: SourceText): boolean =>
  file.endsWith('.toml') && (!isFound || basename(file) === CONFIG_MAP.key);

const alreadyIn = (source: SourceText, what: string, first: SourceText | undefined): ScenarioFault => ({
  place: startOf(source),
  message: `${what} stands in ${first?.file ?? ''} already`,
});

const isMentioned = (name: string, text: string): boolean =>
  [`"${name}"`, `'${name}'`].some(each => text.includes(each));

/** Objects with a kind, those of Lists in the Lists' place; what the YAML parser says to the file where it cannot be read. */
function readDocuments({ file, text }: SourceText): {
  readonly values: readonly PlacedValue[];
  readonly fault: ScenarioFault | undefined;
} {
  const lines = new LineCounter();
  const failed = (place: Place, message: string) => ({ values: [], fault: { place, message } });
  try {
    const documents = parseAllDocuments(text, {
      lineCounter: lines,
      merge: true,
      prettyErrors: false,
      logLevel: 'silent',
    });
    const [error] = documents.flatMap(({ errors }) => errors);
    if (error !== undefined) return failed(placeAt(file, lines, error.pos[0]), describeYamlFailure(error.message));
    const values: PlacedValue[] = [];
    for (const document of documents) {
      const read = readValue(file, document, lines);
      if (!read.ok) return failed(read.place, read.message);
      const items = itemsOf(read.value).map(({ value, path }) => ({
        value,
        locate: (rest: Path) => placeOf(file, document, lines, [...path, ...rest]),
      }));
      values.push(...items.filter(({ value }) => typeof value['kind'] === 'string'));
    }
    return { values, fault: undefined };
  } catch (error) {
    return failed({ file, line: 1, path: '' }, describeYamlFailure(messageOf(error)));
  }
}

function itemsOf(
  value: unknown,
): readonly { readonly value: Readonly<Record<string, unknown>>; readonly path: Path }[] {
  if (!isRecord(value)) return [];
  const { kind, items } = value;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [{ value, path: [] }];
  return items.flatMap((item: unknown, index) => (isRecord(item) ? [{ value: item, path: ['items', index] }] : []));
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What the cluster serves, also by a definition in the files; definitions of what it serves by itself are its own. */
function isDeployedIn(
  values: readonly PlacedValue[],
  known: readonly KnownResource[],
): (value: PlacedValue) => boolean {
  const names = new Set(known.map(({ resource, group }) => `${resource}.${group}`));
  const isOwnDefinition = ({ kind, metadata }: PlacedValue['value']): boolean =>
    kind === 'CustomResourceDefinition' && isRecord(metadata) && names.has(String(metadata['name']));
  const defined = values
    .filter(({ value }) => value['kind'] === 'CustomResourceDefinition' && !isOwnDefinition(value))
    .map(({ value: { spec } }) => definedKind(spec));
  return ({ value }) => {
    const { apiVersion, kind } = value;
    if (typeof apiVersion !== 'string' || typeof kind !== 'string' || isOwnDefinition(value)) return false;
    if (resourceOfManifest({ apiVersion, kind }, known) !== undefined) return true;
    return defined.includes(`${kind}.${parseApiVersion(apiVersion).group}`);
  };
}

function definedKind(spec: unknown): string {
  if (!isRecord(spec) || !isRecord(spec['names'])) return '';
  return `${String(spec['names']['kind'])}.${String(spec['group'])}`;
}

/** A kind of ours, or nearly of one that is served, that the cluster does not serve as it is written: it would be passed over. */
function misspeltKind({ value, locate }: PlacedValue, known: readonly KnownResource[]): readonly ScenarioFault[] {
  const { apiVersion, kind } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || kind === 'Scenario') return [];
  if (resourceOfManifest({ apiVersion, kind }, known) !== undefined) return [];
  const names = known.map(each => `${each.group === '' ? '' : `${each.group}/`}${each.version} ${each.kind}`);
  const named = `${apiVersion} ${kind}`;
  const isMisspelt = isMisspelling(named, names);
  if (!isMisspelt && parseApiVersion(apiVersion).group !== CURFEW_GROUP) return [];
  const message = `the cluster serves no ${named}${didYouMean(isMisspelt ? nearestName(named, names) : undefined)}`;
  return [{ place: locate(['kind']), message }];
}
