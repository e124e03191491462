/**
 * Reads what a template rendered as NVSentinel's converter (`sigs.k8s.io/yaml`) does: YAML 1.1, in which `yes` is true and `012` is
 * ten, with Go's numbers and no dates. A name such as `e1` is text. Of a key that stands twice the last value counts, as there.
 */
import type { ScalarTag, Tags } from 'yaml';
import { isJsonObject } from '../domain/json.ts';
import type { JsonObject } from '../domain/kubernetes-object.ts';
import * as yaml from 'yaml';
import { exactJson } from './exact-json.ts';
import { messageOf } from '../errors.ts';

export type ReadYaml =
  | {
      readonly ok: true;
      readonly value: JsonObject;
      /** All keys as they stand in the text, in order, one that stands twice included, with the depth at which each stands. */
      readonly keys: readonly RenderedKey[];
    }
  | { readonly ok: false; readonly message: string };

export interface RenderedKey {
  readonly depth: number;
  readonly key: string;
}

/** The first document. Never throws. */
export function readRenderedYaml(text: string): ReadYaml {
  const options = { version: '1.1', uniqueKeys: false, customTags: goTags, prettyErrors: false } as const;
  const documents = yaml.parseAllDocuments(text, { ...options, logLevel: 'silent' });
  const [document] = Array.isArray(documents) ? documents : [];
  if (document === undefined) return { ok: false, message: 'the template rendered nothing' };
  const [error] = document.errors;
  if (error !== undefined) return { ok: false, message: `the rendered text is not YAML: ${error.message}` };
  try {
    const value = exactJson(document.toJS({ maxAliasCount: 100 }));
    if (!isJsonObject(value)) return { ok: false, message: 'the rendered YAML is not an object' };
    return { ok: true, value, keys: keysOf(document.contents, 0) };
  } catch (fault) {
    // Aliases without end, merges of what is no map, and numbers that JSON does not have.
    return { ok: false, message: `the rendered YAML cannot be read: ${messageOf(fault)}` };
  }
}

function keysOf(node: unknown, depth: number): readonly RenderedKey[] {
  if (yaml.isMap(node)) {
    return node.items.flatMap(({ key, value }) => [
      { depth, key: yaml.isScalar(key) ? (key.source ?? String(key.value)) : String(key) },
      ...keysOf(value, depth + 1),
    ]);
  }
  return yaml.isSeq(node) ? node.items.flatMap(item => keysOf(item, depth + 1)) : [];
}

/** The tags of YAML 1.1, with numbers as Go reads them, and without dates and `1:30`. */
function goTags(tags: Tags): Tags {
  const others = tags.filter(
    tag => typeof tag === 'string' || !/:(?:int|float|timestamp)$/.test(tag.tag) || tag.test?.test('.nan') === true,
  );
  return [...others, numberTag('int'), numberTag('float')];
}

const numberTag = (name: 'int' | 'float'): ScalarTag => ({
  tag: `tag:yaml.org,2002:${name}`,
  default: true,
  test: /^[-+.\d]/,
  resolve: text => goNumber(text) ?? text,
});

const WHOLE = /^([-+]?)(0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9]\d*)$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/** The number that Go reads in a plain scalar, an int64 with all its digits; undefined: it is text. */
function goNumber(text: string): number | bigint | undefined {
  const plain = text.startsWith('.') ? text : text.replaceAll('_', '');
  const [, sign, digits] = WHOLE.exec(plain) ?? [];
  if (digits !== undefined) {
    const magnitude = BigInt(digits.replace(/^0(?=\d)/, '0o'));
    const value = sign === '-' ? -magnitude : magnitude;
    const number = Number(value);
    if (value >= MIN_INT64 && value <= MAX_INT64) return Number.isSafeInteger(number) ? number : value;
    // The API server keeps what is larger as a float64.
    if (value > 0n && value <= MAX_UINT64) return number;
  }
  const value = FLOAT.test(plain) ? Number(plain) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}
