/**
 * Finds the reasons why an object would be refused: by its CustomResourceDefinition, as the API server does, and by the
 * code of Curfew that reads it.
 */
import { z } from 'zod';
import { ApiStatusError, type ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { unwatchedTypes } from '../../functions/repair/explain.ts';
import { parseDrainLimits } from '../../shared/contract/drain-limits-schema.ts';
import { parseFinalizerRule } from '../../shared/contract/finalizer-rule-schema.ts';
import { parsePolicyFrame, type ParseResult } from '../../shared/contract/policy-schema.ts';
import { parseProtectionBlock } from '../../shared/contract/protection-schema.ts';
import { parseRepairLimits } from '../../shared/contract/repair-limits-schema.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { parsePoolTermination, parseTerminationBlock } from '../../shared/contract/termination-schema.ts';
import { isJsonObject, withoutPaths } from '../../shared/domain/json.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { emptyFields } from '../../simulator/scenario/object-fields.ts';
import type { Path } from '../../simulator/scenario/places.ts';
import { UNKNOWN_FIELD } from '../findings/voice.ts';
import type { Manifest } from './manifest.ts';
import { toDottedPath, toPath } from './value-path.ts';

/** A mistake, in the words of whoever reports it. */
export interface Fault {
  readonly path: Path;
  readonly message: string;
}

interface Resource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** All that is wrong with it: a field that is unknown or empty hides nothing else. Each place is spoken of once. */
export function errorsOf(core: ApiServerCore, manifest: Manifest, resource: Resource): readonly Fault[] {
  const odd = [...unknownFields(core, manifest, resource), ...emptyOnes(manifest)];
  const known = asKnown(manifest, odd);
  const read = readersSay(known);
  // Curfew's own words for what must be, in place of a pattern or bound of the definition.
  const plain = new Map(read.flatMap(({ path, message }) => (isPlain(message) ? [[keyOf(path), message]] : [])));
  const refused = refusals(core, known, resource).map(({ path, message }) => ({
    path,
    message: plain.get(keyOf(path)) ?? message,
  }));
  const seen = new Set(refused.map(({ path }) => keyOf(path)));
  return distinct([...odd, ...refused, ...read.filter(({ path }) => !seen.has(keyOf(path)))]);
}

const isList = (message: string): boolean => message.includes('supported values: ');

const keyOf = (path: Path): string => JSON.stringify(path);

const isPlain = (message: string): boolean => message !== UNKNOWN_FIELD && !/^(Invalid|Too)/.test(message);

const distinct = (faults: readonly Fault[]): readonly Fault[] => [
  ...new Map(faults.map(fault => [`${keyOf(fault.path)} ${fault.message}`, fault])).values(),
];

function asKnown(manifest: Manifest, odd: readonly Fault[]): Manifest {
  const spec = withoutPaths({ spec: manifest['spec'] }, odd.map(({ path }) => path)); // prettier-ignore
  return { ...manifest, ...(isJsonObject(spec) && manifest['spec'] !== undefined && { spec: spec['spec'] ?? {} }) };
}

/** `repair:` without a value, which the API server drops. */
function emptyOnes({ kind, spec }: KubernetesManifest): readonly Fault[] {
  const empty = emptyFields({ kind, body: { spec: isJsonObject(spec) || spec === null ? spec : {} } });
  return empty.map(({ path, message }) => ({ path, message }));
}

function unknownFields(core: ApiServerCore, manifest: Manifest, resource: Resource): readonly Fault[] {
  const message = statusOf(core, manifest, resource, 'Strict')?.message ?? '';
  return [...message.matchAll(/unknown field "((?:[^"\\]|\\.)+)"/g)].map(([, path = '']) => ({
    path: toPath(path),
    message: UNKNOWN_FIELD,
  }));
}

/** The refusals of the API server. */
function refusals(core: ApiServerCore, manifest: Manifest, resource: Resource): readonly Fault[] {
  const status = statusOf(core, manifest, resource, 'Ignore');
  if (status === undefined) return [];
  const causes: unknown = status.details?.['causes'];
  const faults = (Array.isArray(causes) ? causes : []).flatMap((cause: unknown): Fault[] => {
    if (!isJsonObject(cause)) return [];
    const { field, message: why } = cause;
    if (typeof field !== 'string' || typeof why !== 'string') return [];
    // Of a schema that must not hold the field stands in the message alone. That rules were not looked at is no fault of its own.
    const path = field === '<nil>' ? /"([^"]+)" must (?:not )?validate/.exec(why)?.[1] : field;
    return path === undefined ? [] : [{ path: toPath(path), message: why }];
  });
  // What is not of its type is none of the values either: that one of the two which names them is enough.
  const listed = new Set(faults.flatMap(({ path, message }) => (isList(message) ? [keyOf(path)] : [])));
  const said = faults.filter(({ path, message }) => isList(message) || !listed.has(keyOf(path)));
  return said.length > 0 ? said : [{ path: [], message: status.message ?? 'is refused' }];
}

function statusOf(
  core: ApiServerCore,
  manifest: Manifest,
  resource: Resource,
  fieldValidation: 'Strict' | 'Ignore',
): ApiStatusError['status'] | undefined {
  try {
    core.create(resource, manifest, { dryRun: true, fieldValidation });
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiStatusError)) throw error;
    return error.status;
  }
}

/** The faults that Curfew's own readers find. */
function readersSay({ kind, spec }: KubernetesManifest): readonly Fault[] {
  const blocks = isJsonObject(spec) ? spec : {};
  const isPolicy = kind === 'NodeLifecyclePolicy';
  const results: ParseResult<unknown>[] = [];
  const read = (block: string, parse: (value: unknown, path: string) => ParseResult<unknown>): void => {
    if (blocks[block] !== undefined) results.push(parse(blocks[block], `spec.${block}`));
  };
  if (isPolicy) results.push(parsePolicyFrame(spec));
  if (isPolicy || kind === 'NodePool') read('repair', parseRepairBlock);
  if (isPolicy) {
    read('repairLimits', parseRepairLimits);
    read('drain', parseDrainLimits);
    read('protection', parseProtectionBlock);
    read('termination', parseTerminationBlock);
  }
  if (kind === 'NodePool') {
    results.push(parsePoolTermination(blocks['disruption'], 'spec.disruption'));
    if (blocks['repairLimits'] !== undefined)
      results.push({
        ok: false,
        message: 'spec.repairLimits: only a NodeLifecyclePolicy limits zones and the cluster',
      });
  }
  if (kind === 'FinalizerRule' && spec !== undefined) results.push(parseFinalizerRule(spec));
  return [
    ...results.flatMap(result => (result.ok ? [] : splitMessage(result.message))),
    ...(kind === 'FinalizerRule' ? [] : unwatchedTypes({ spec: blocks }).flatMap(splitMessage)),
  ];
}

/** `spec.a.0: message; spec.b: message`. A field that is unknown is a fault of its own. */
function splitMessage(message: string): readonly Fault[] {
  return message.split(/; (?=spec[.:])/).flatMap(part => {
    const [, own = '', text = part] = /^(spec[^:]*): (.*)$/s.exec(part) ?? [];
    const path = toDottedPath(own);
    const [, unknown] = /^Unrecognized keys?: (".*")$/s.exec(text) ?? [];
    if (unknown === undefined) return [{ path, message: text }];
    const keys = z.array(z.string()).parse(JSON.parse(`[${unknown}]`));
    return keys.map(key => ({ path: [...path, key], message: UNKNOWN_FIELD }));
  });
}
