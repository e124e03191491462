/** Checks objects of the kinds that Curfew reads: by their CustomResourceDefinition, as the API server does, and by what reads them. */
import { ApiStatusError, type ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { emptyFields } from '../../simulator/scenario/object-fields.ts';
import { formatPath, type Path } from '../../simulator/scenario/places.ts';
import { nanosecondsToDuration, parseGoDuration } from '../../shared/domain/go-duration.ts';
import { isNever } from '../../shared/domain/repair-policy.ts';
import { parsePolicyFrame, type Parsed } from '../../shared/contract/policy-schema.ts';
import { parseDrainLimits } from '../../shared/contract/drain-limits-schema.ts';
import { parseRepairLimits } from '../../shared/contract/repair-limits-schema.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { parseFinalizerRule } from '../../shared/contract/finalizer-rule-schema.ts';
import { parsePoolTermination, parseTerminationBlock } from '../../shared/contract/termination-schema.ts';
import { parseProtectionBlock } from '../../shared/contract/protection-schema.ts';
import { CURFEW_GROUP } from '../../shared/contract/names.ts';
import { HOOKS_HOLD_NOTHING } from '../../shared/domain/termination.ts';
import { didYouMean, isMisspelling, nearestName } from '../../shared/domain/nearest-name.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import { parseApiVersion, type KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { unwatchedTypes } from '../../functions/repair/policy-status/watched.ts';
import { ladderTexts } from '../../functions/repair/ladder-text.ts';
import type { Checked, Finding } from './finding.ts';
import { UNKNOWN_FIELD, withHint } from './hints.ts';
import type { SourceDocument } from './yaml-source.ts';

export interface ObjectChecker {
  /** What is wrong with it; undefined when it is of a kind that Curfew does not read. */
  check(file: string, manifest: Manifest, document: Pick<SourceDocument, 'lineOf'>, base: Path): Checked | undefined;
}

/** What every object has. */
export type Manifest = KubernetesManifest & { readonly metadata: { readonly name: string } };

/** The value as an object with kind and name; undefined when it is none. */
export function asManifest(value: unknown): Manifest | undefined {
  if (!isJsonObject(value)) return undefined;
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const name = isJsonObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
  return { ...value, apiVersion, kind, metadata: { ...(isJsonObject(metadata) && metadata), name } };
}

/** A checker with an API server of its own, which stores nothing. */
export function createObjectChecker(): ObjectChecker {
  const core = createApiServer({ clock: { now: () => 0 } });
  for (const definition of customResourceDefinitions()) core.seed(definition);
  return {
    check(file, manifest, { lineOf }, base) {
      const resource = core.resourceForKind(manifest.apiVersion, manifest.kind);
      if (resource?.schema === undefined)
        return resource === undefined ? checkKind(core, file, manifest, lineOf([...base, 'kind'])) : undefined;
      const { schema } = resource;
      const at = (path: string, message: string): Finding => ({
        file,
        line: lineOf([...base, ...toPath(path)]),
        path,
        message: withHint(toPath(path), message, schema),
      });
      const faults = faultsOf(manifest);
      const plain = new Map(faults.flatMap(({ path, message }) => (isPlain(message) ? [[path, message]] : [])));
      const refused = distinct(
        refusals(core, manifest, resource).map(({ path, message }) => at(path, plain.get(path) ?? message)),
      );
      const seen = new Set(refused.map(({ path }) => path));
      const read = faults.map(({ path, message }) => at(path, message));
      const unknown = refused.filter(({ message }) => message.startsWith(UNKNOWN_FIELD)).map(({ path }) => path);
      const isNews = ({ path, message }: Finding): boolean =>
        !seen.has(path) && !(message.startsWith('Unrecognized key') && unknown.some(field => field.startsWith(path)));
      const warnings = warningsOf(manifest).map(({ path, message }) => ({
        ...at(path, message),
        severity: 'warning' as const,
      }));
      const findings = [...refused, ...read.filter(isNews), ...warnings].toSorted((a, b) => a.line - b.line);
      const notes = refused.length === 0 && read.length === 0 ? laddersOf(manifest) : [];
      return { file, kind: manifest.kind, name: manifest.metadata.name, findings, ...(notes.length > 0 && { notes }) };
    },
  };
}

/** Kinds that nobody but Curfew has: under another group they are meant for it. */
const OWN_KINDS: readonly string[] = ['NodeLifecyclePolicy', 'FinalizerRule'];

/** An object of our group or kinds, or nearly of one that is read, that nothing serves as it is written: it would be passed over. */
function checkKind(
  core: ApiServerCore,
  file: string,
  { apiVersion, kind, metadata }: Manifest,
  line: number,
): Checked | undefined {
  const known = [...core.resources().filter(each => each.schema !== undefined), SCENARIO];
  const names = known.map(each => `${each.group}/${each.version} ${each.kind}`);
  const named = `${apiVersion} ${kind}`;
  const isMisspelt = isMisspelling(named, names);
  const isOurs = parseApiVersion(apiVersion).group === CURFEW_GROUP || OWN_KINDS.includes(kind);
  if (!isOurs && !isMisspelt) return undefined;
  const kinds = known.map(each => each.kind);
  const meant = isMisspelt ? nearestName(named, names) : names[kinds.indexOf(nearestName(kind, kinds) ?? '')];
  const message = `there is no ${named}${didYouMean(meant)}`;
  return {
    file,
    kind,
    name: metadata.name,
    findings: [{ file, line, path: 'kind', message }],
  };
}

const SCENARIO = { group: CURFEW_GROUP, version: 'v1alpha1', kind: 'Scenario' };

/** Curfew's own words for what must be, in place of a pattern or bound of the definition. */
const isPlain = (message: string): boolean => !/^(Invalid|Unrecognized|Too)/.test(message);

const distinct = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter(
    ({ path, message }, index) => findings.findIndex(each => each.path === path && each.message === message) === index,
  );

interface Fault {
  readonly path: string;
  readonly message: string;
}

/** What the API server says to it. */
function refusals(
  core: ApiServerCore,
  manifest: Manifest,
  resource: { readonly group: string; readonly version: string; readonly resource: string },
): Fault[] {
  try {
    core.create(resource, manifest, { dryRun: true, fieldValidation: 'Strict' });
    return [];
  } catch (error) {
    if (!(error instanceof ApiStatusError)) throw error;
    const { details, message = 'is refused' } = error.status;
    const causes: unknown = details?.['causes'];
    const faults = (Array.isArray(causes) ? causes : []).flatMap((cause: unknown): Fault[] => {
      if (!isJsonObject(cause)) return [];
      const { field, message: why } = cause;
      if (typeof field !== 'string' || typeof why !== 'string') return [];
      // Of a schema that must not hold the field stands in the message alone. That rules were not looked at is no fault of its own.
      const path = field === '<nil>' ? /"([^"]+)" must (?:not )?validate/.exec(why)?.[1] : field;
      return path === undefined ? [] : [{ path, message: why }];
    });
    if (faults.length > 0) return faults;
    const unknown = [...message.matchAll(/unknown field "([^"]+)"/g)].map(([, path = '']) => path);
    if (unknown.length > 0) return unknown.map(path => ({ path, message: UNKNOWN_FIELD }));
    return [{ path: '', message }];
  }
}

/** What Curfew's own readers say to it. */
function faultsOf({ kind, spec }: KubernetesManifest): Fault[] {
  const empty = emptyFields({ kind, body: { spec: isJsonObject(spec) || spec === null ? spec : {} } });
  if (empty.length > 0) return empty.map(({ path, message }) => ({ path: formatPath(path), message }));
  const blocks = isJsonObject(spec) ? spec : {};
  const results: Parsed<unknown>[] = [];
  if (kind === 'NodeLifecyclePolicy') results.push(parsePolicyFrame(spec));
  if (kind === 'NodeLifecyclePolicy' || kind === 'NodePool') {
    if (blocks['repair'] !== undefined) results.push(parseRepairBlock(blocks['repair'], 'spec.repair'));
  }
  if (kind === 'NodeLifecyclePolicy' && blocks['repairLimits'] !== undefined) {
    results.push(parseRepairLimits(blocks['repairLimits'], 'spec.repairLimits'));
  }
  if (kind === 'NodeLifecyclePolicy' && blocks['drain'] !== undefined) {
    results.push(parseDrainLimits(blocks['drain'], 'spec.drain'));
  }
  if (kind === 'NodePool') results.push(parsePoolTermination(blocks['disruption'], 'spec.disruption'));
  if (kind === 'NodePool' && blocks['repairLimits'] !== undefined) {
    results.push({ ok: false, message: 'spec.repairLimits: only a NodeLifecyclePolicy limits zones and the cluster' });
  }
  if (kind === 'NodeLifecyclePolicy' && blocks['protection'] !== undefined) {
    results.push(parseProtectionBlock(blocks['protection'], 'spec.protection'));
  }
  if (kind === 'NodeLifecyclePolicy' && blocks['termination'] !== undefined) {
    results.push(parseTerminationBlock(blocks['termination'], 'spec.termination'));
  }
  if (kind === 'FinalizerRule' && spec !== undefined) results.push(parseFinalizerRule(spec));
  return [
    ...results.flatMap(result => (result.ok ? [] : splitMessage(result.message))),
    ...(kind === 'FinalizerRule' ? [] : unwatchedTypes({ spec: blocks }).flatMap(splitMessage)),
  ];
}

/** What Curfew accepts, and what may do nothing of what its author expects. */
function warningsOf(manifest: KubernetesManifest): Fault[] {
  return [...tolerationsWithoutEnd(manifest), ...hooksThatHoldNothing(manifest)];
}

/** What is done about an ill node, in words. */
function laddersOf({ kind, spec }: KubernetesManifest): readonly string[] {
  const isRead = kind === 'NodeLifecyclePolicy' || kind === 'NodePool';
  const block = isRead && isJsonObject(spec) ? spec['repair'] : undefined;
  const parsed = block === undefined ? undefined : parseRepairBlock(block, 'spec.repair');
  return parsed?.ok === true ? ladderTexts(parsed.value).map(({ path, text }) => `${path}: ${text}`) : [];
}

/** A duration that is read as `Never`; who writes the word knows what it does. */
function tolerationsWithoutEnd({ kind, spec }: KubernetesManifest): Fault[] {
  const isRead = kind === 'NodeLifecyclePolicy' || kind === 'NodePool';
  const block = isRead && isJsonObject(spec) ? spec['repair'] : undefined;
  if (!isJsonObject(block)) return [];
  const entries = (key: string) => {
    const list = block[key];
    return (Array.isArray(list) ? list : []).map((entry, index) => ({
      path: `spec.repair.${key}[${index}].toleration`,
      text: isJsonObject(entry) ? entry['toleration'] : undefined,
    }));
  };
  const whole = { path: 'spec.repair.defaultTolerationDuration', text: block['defaultTolerationDuration'] };
  return [whole, ...entries('policies'), ...entries('conditions')].flatMap(({ path, text }) => {
    if (typeof text !== 'string') return [];
    const read = parseGoDuration(text);
    if (!read.ok || !isNever(nanosecondsToDuration(read.nanoseconds))) return [];
    return [{ path, message: `${text} is read as Never: nothing is repaired for this, and it counts nowhere` }];
  });
}

function hooksThatHoldNothing({ kind, spec }: KubernetesManifest): Fault[] {
  const block = kind === 'NodeLifecyclePolicy' && isJsonObject(spec) ? spec['termination'] : undefined;
  if (block === undefined) return [];
  const parsed = parseTerminationBlock(block, 'spec.termination');
  if (!parsed.ok || parsed.value.builtin === 'Replace') return [];
  return parsed.value.hooks.flatMap(({ at }, index) =>
    at === 'after-terminate' ? [] : [{ path: `spec.termination.hooks[${index}]`, message: HOOKS_HOLD_NOTHING }],
  );
}

/** `spec.a.0: message; spec.b: message`. */
function splitMessage(message: string): Fault[] {
  return message.split(/; (?=spec[.:])/).map(part => {
    const [, path = '', text = part] = /^(spec[^:]*): (.*)$/s.exec(part) ?? [];
    return { path: path.replaceAll(/\.(\d+)/g, '[$1]'), message: text };
  });
}

/** `spec.repair.policies[0].toleration`, as the API server writes paths. */
function toPath(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|\["?([^"\]]+)"?\]|([^.[\]]+)/g)].map(([, index, quoted, name]) =>
    index === undefined ? (quoted ?? name ?? '') : Number(index),
  );
}
