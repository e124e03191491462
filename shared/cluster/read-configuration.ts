/** The configuration in ConfigMap `curfew/curfew-config`: `config.toml`, and the template that it names. */
import { isDeepStrictEqual } from 'node:util';
import { parseConfig, readConfig, type ConfigFault, type CurfewConfig } from '../contract/config-schema.ts';
import { checkDrainTemplate } from '../custom-resource/drain-template.ts';
import { jsonObject } from '../contract/json-object.ts';
import { CONFIG_MAP } from '../contract/names.ts';
import type { ParseResult } from '../contract/policy-schema.ts';
import * as z from '../contract/zod.ts';
import { suggestion } from '../domain/nearest-name.ts';

/** A configuration that is valid as a whole. */
export interface Configuration extends CurfewConfig {
  /** Text of the drain template; undefined without a custom drain. */
  readonly template: string | undefined;
}

/** The part of a configuration that is kept: `restoreConfiguration` reads it again. JSON, without comments and other keys. */
export type KeptConfiguration = z.infer<typeof keptSchema>;

/** Wire form of what is kept. */
export const keptSchema = z.object({
  content: jsonObject,
  template: z.exactOptional(z.string()),
});

export type ReadConfiguration =
  | { readonly ok: true; readonly value: Configuration; readonly kept: KeptConfiguration }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

/** Longest template, in characters. */
const MAX_TEMPLATE_LENGTH = 65_536;
/**
 * The most bytes of JSON of a configuration that is kept: with the rest of its record it fits into an item of 400 KB.
 */
const MAX_KEPT_BYTES = 250_000;

let last: { readonly data: Readonly<Record<string, string>>; readonly read: ReadConfiguration } | undefined;

/**
 * Reads the data of the ConfigMap. Never throws. The same data as the last time is not read again: each look at an object asks.
 *
 * @param data key → text; `config.toml` is there
 */
export function readConfiguration(data: Readonly<Record<string, string>>): ReadConfiguration {
  if (last === undefined || !isDeepStrictEqual(last.data, data)) last = { data, read: readData(data) };
  return last.read;
}

function readData(data: Readonly<Record<string, string>>): ReadConfiguration {
  const parsed = parseConfig(data[CONFIG_MAP.key] ?? '');
  if (!parsed.ok) return parsed;
  const { value: config, content, positionOf } = parsed;
  const file = config.drain?.customDrain?.templateFileName;
  const template = file === undefined ? undefined : Object.hasOwn(data, file) ? data[file] : undefined;
  if (file !== undefined) {
    const path = ['customDrain', 'templateFileName'];
    const fault = (message: string): ReadConfiguration => ({
      ok: false,
      faults: [{ ...positionOf(path), key: path.join('.'), message }],
    });
    if (template === undefined) {
      const others = Object.keys(data).filter(key => key !== CONFIG_MAP.key);
      return fault(`the ConfigMap has no key ${JSON.stringify(file)}${suggestion(file, others)}`);
    }
    if (template.length > MAX_TEMPLATE_LENGTH) {
      return fault(`the template is ${template.length} characters long, at most ${MAX_TEMPLATE_LENGTH} are read`);
    }
    const faults = checkDrainTemplate(template, file);
    if (faults.length > 0) return { ok: false, faults };
  }
  const kept = keptSchema.parse({ content, ...(template !== undefined && { template }) });
  const size = Buffer.byteLength(JSON.stringify(kept));
  if (size > MAX_KEPT_BYTES) {
    const message = `the configuration holds ${size} bytes beside its comments, at most ${MAX_KEPT_BYTES} are read`;
    return { ok: false, faults: [{ line: 1, key: '', message }] };
  }
  return { ok: true, value: { ...config, template }, kept };
}

/** Reads what was kept, which may not be valid any more, say after a change of version. */
export function restoreConfiguration(kept: unknown): ParseResult<Configuration> {
  const result = keptSchema.safeParse(kept);
  const config = result.success ? readConfig(result.data.content) : undefined;
  if (config === undefined) return { ok: false, message: 'what was kept of the configuration cannot be read' };
  return { ok: true, value: { ...config, template: result.data?.template } };
}

/** Whether two are the same, in any order of keys that JSON writes. */
export function isSameConfiguration(a: KeptConfiguration | undefined, b: KeptConfiguration): boolean {
  return a !== undefined && canonical(a) === canonical(b);
}

/** Remembers the text of each object: what was kept does not change. */
const texts = new WeakMap<object, string>();

/** JSON text with sorted keys. @param value nobody changes it afterwards */
export function canonical(value: object): string {
  const text = texts.get(value) ?? sortedText(value);
  texts.set(value, text);
  return text;
}

function sortedText(value: object): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
