/**
 * Templates of the user's that render one object: Go's text/template, then YAML as Go reads it. Drains, repairs and hooks render here.
 *
 * A value never becomes a field: a message with a quote and a line break could name another node. So the same template is rendered once more
 * without what YAML takes for structure, and must have the same keys.
 */
import * as gotemplate from '../../packages/gotemplate/src/index.ts';
import { isJsonObject } from '../domain/json.ts';
import type { JsonObject, JsonValue, KubernetesManifest } from '../domain/kubernetes-object.ts';
import { readRenderedYaml, type ReadYaml, type RenderedKey } from './rendered-yaml.ts';

/** A template renders one object; the API server takes 1.5 MB. */
const LIMITS = { outputBytes: 1 << 20 };

export interface ObjectTemplate {
  /** Its name in Go's error texts. */
  readonly name: string;
  readonly text: string;
  /** Type with the fields that the data has; undefined: maps, whose missing keys are nil. */
  readonly type?: gotemplate.GoType;
}

export type RenderedObject =
  | { readonly ok: true; readonly value: JsonObject }
  /** `reason`: one CamelCase word. `line` (from 1) in the template, for what the template itself does. */
  | { readonly ok: false; readonly reason: string; readonly message: string; readonly line?: number };

export interface TemplateFault {
  readonly line: number;
  readonly column?: number;
  readonly message: string;
}

/** Renders one object. Never throws. */
export function renderObject(template: ObjectTemplate, data: JsonObject): RenderedObject {
  const parsed = parseTemplate(template);
  if (!parsed.ok) return { ok: false, reason: 'InvalidTemplate', ...parsed.fault };
  const run = (given: JsonObject, printed?: (text: string) => string): ExecutedText =>
    executeTemplate(parsed.template, template, given, printed);
  const real = run(data);
  if (!real.ok) return { ok: false, reason: 'TemplateNotExecuted', ...real.fault };
  const document = readRenderedYaml(real.text);
  if (!document.ok) return { ok: false, reason: 'RenderedYamlInvalid', message: document.message };
  // Plain values need no second look. Where a branch depends on a value, other data takes another one; what is printed then is another text.
  const isSafe = isSame(document.keys, keysOf(run(plainData(data)))) || isSame(document.keys, keysOf(run(data, plain)));
  if (isSafe) return { ok: true, value: document.value };
  const found = firstForeign(document.keys, keysOf(run(data, plain)) ?? []);
  const message = `a text of the data was read as YAML, near the key ${JSON.stringify(found)}: quote what the template prints, as in {{ printf "%q" .HealthEvent.Message }}`;
  return { ok: false, reason: 'TextReadAsFields', message };
}

/** The fault, with its place in the template. @param key of the template in the ConfigMap */
export function faultText(
  key: string,
  { line, message }: { readonly line?: number; readonly message: string },
): string {
  return `${key}: ${line === undefined ? '' : `line ${line}: `}${message}`;
}

/** The rendered template as an object of a kind that it names itself; undefined: it names none. @param metadataOf ours, by what the template says */
export function manifestOf(
  { apiVersion, kind, metadata, ...rest }: JsonObject,
  metadataOf: (given: JsonObject) => KubernetesManifest['metadata'],
): KubernetesManifest | undefined {
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  return { ...rest, apiVersion, kind, metadata: metadataOf(isJsonObject(metadata) ? metadata : {}) };
}

/** Characters that YAML could take for structure. */
const STRUCTURE = /[^A-Za-z0-9_/ ]/g;
const plain = (text: string): string => text.replaceAll(STRUCTURE, 'x');

/** The data with plain texts of the same lengths; keys stay, for a template may make keys of them. */
function plainData(data: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, plainValue(value)]));
}

function plainValue(value: JsonValue | undefined): JsonValue {
  if (typeof value === 'string') return plain(value);
  if (Array.isArray(value)) return value.map(plainValue);
  return isJsonObject(value) ? plainData(value) : (value ?? null);
}

/** Undefined: a function refuses the data, or nothing can be read. */
function keysOf(run: ExecutedText): readonly RenderedKey[] | undefined {
  const read: ReadYaml | undefined = run.ok ? readRenderedYaml(run.text) : undefined;
  return read?.ok === true ? read.keys : undefined;
}

function isSame(keys: readonly RenderedKey[], others: readonly RenderedKey[] | undefined): boolean {
  return keys.length === others?.length && keys.every((each, index) => isSameKey(each, others[index]));
}

const isSameKey = (one: RenderedKey, other: RenderedKey | undefined): boolean =>
  one.depth === other?.depth && plain(one.key) === plain(other.key);

const firstForeign = (keys: readonly RenderedKey[], others: readonly RenderedKey[]): string =>
  (keys.find((each, index) => !isSameKey(each, others[index])) ?? keys.at(-1))?.key ?? '';

/** Parses a template. */
export function parseTemplate({
  name,
  text,
}: ObjectTemplate):
  | { readonly ok: true; readonly template: gotemplate.Template }
  | { readonly ok: false; readonly fault: TemplateFault } {
  try {
    return { ok: true, template: gotemplate.parse(name, text, { limits: LIMITS }) };
  } catch (error) {
    return { ok: false, fault: toFault(error) };
  }
}

export type ExecutedText =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly fault: TemplateFault };

/** The text that a template makes of data. @param printed what is written in place of a value */
export function executeTemplate(
  template: gotemplate.Template,
  { type }: Pick<ObjectTemplate, 'type'>,
  data: JsonObject,
  printed?: (text: string) => string,
): ExecutedText {
  try {
    const given = gotemplate.toGo(data, type);
    return { ok: true, text: template.execute(given, printed === undefined ? {} : { printed }) };
  } catch (error) {
    return { ok: false, fault: toFault(error) };
  }
}

function toFault(error: unknown): TemplateFault {
  const { ExecError, TemplateError } = gotemplate;
  if (!(error instanceof TemplateError)) throw error;
  const column = error instanceof ExecError && error.column !== undefined ? { column: error.column + 1 } : {};
  return { line: error.line ?? 1, ...column, message: error.message };
}
