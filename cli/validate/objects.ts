/** Checks objects of the kinds that Curfew reads. */
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { CURFEW_GROUP } from '../../shared/contract/names.ts';
import { parseApiVersion } from '../../shared/domain/kubernetes-object.ts';
import { didYouMean, isMisspelling, nearestName } from '../../shared/domain/nearest-name.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { findingAt, type Finding, type Severity } from '../../simulator/scenario/finding.ts';
import type { Path } from '../../simulator/scenario/places.ts';
import type { Place } from '../../simulator/scenario/scenario.ts';
import { ladderTexts } from '../explain/ladder-text.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import { inOneVoice } from '../findings/voice.ts';
import { byPlace, isError, type CheckedInput } from './checked.ts';
import { doubtsAbout } from './object-doubts.ts';
import { errorsOf } from './object-errors.ts';
import type { Manifest } from './manifest.ts';
import { valueAt } from './value-path.ts';
import { hasVeto, vetoDoubts } from './vetoes.ts';

/** An object as it stands in a file. */
export interface PlacedObject {
  readonly manifest: Manifest;
  readonly file: string;
  readonly placeOf: (path: Path) => Place;
}

export interface ObjectChecker {
  /** Checks an object; undefined if it is of a kind that Curfew does not read. */
  check(object: PlacedObject): CheckedInput | undefined;
}

/** A checker with an API server of its own, which stores nothing. */
export function createObjectChecker(): ObjectChecker {
  const core = createApiServer({ clock: { now: () => 0 } });
  for (const definition of customResourceDefinitions()) core.seed(definition);
  // The definition of NodePools is Karpenter's and leaves their block open: it has the fields of a policy's.
  const policySchema = core.resourceForKind(OWN_VERSION, 'NodeLifecyclePolicy')?.schema ?? {};
  return {
    check(object) {
      const { manifest, file, placeOf } = object;
      const resource = core.resourceForKind(manifest.apiVersion, manifest.kind);
      if (resource?.schema === undefined) return resource === undefined ? checkKind(core, object) : checkNode(object);
      const { schema } = resource;
      const at = (path: Path, message: string, severity: Severity): Finding => {
        const of = manifest.kind === 'NodePool' && path[1] === 'repair' ? policySchema : schema;
        const said = inOneVoice(message, { path, value: valueAt(manifest, path), schema: of });
        return findingAt(placeOf(path), said, severity);
      };
      const faults = errorsOf(core, manifest, resource);
      const errors = faults.map(({ path, message }) => at(path, message, 'error'));
      const doubts = [...doubtsAbout(manifest, faults), ...vetoDoubts(manifest)].map(({ path, message, severity }) =>
        at(path, message, severity),
      );
      const findings = [...errors, ...doubts].toSorted(byPlace);
      const notes = errors.length === 0 ? laddersOf(manifest) : [];
      return { file, kind: manifest.kind, name: manifest.metadata.name, findings, ...(notes.length > 0 && { notes }) };
    },
  };
}

/** Checks a Node. No other kind of Kubernetes' own means anything to Curfew. */
function checkNode({ manifest, file, placeOf }: PlacedObject): CheckedInput | undefined {
  const { kind, metadata } = manifest;
  if (!hasVeto(manifest)) return undefined;
  const findings = vetoDoubts(manifest).map(({ path, message, severity }) =>
    findingAt(placeOf(path), message, severity),
  );
  return { file, kind, name: metadata.name, findings };
}

/** Describes what is done about an unhealthy node. */
function laddersOf({ kind, spec }: Manifest): readonly string[] {
  const isRead = kind === 'NodeLifecyclePolicy' || kind === 'NodePool';
  const block = isRead && isJsonObject(spec) ? spec['repair'] : undefined;
  const parsed = block === undefined ? undefined : parseRepairBlock(block, 'spec.repair');
  return parsed?.ok === true ? ladderTexts(parsed.value).map(({ path, text }) => `${path}: ${text}`) : [];
}

/** Kinds that nobody but Curfew has: under another group they are meant for it. */
const OWN_KINDS: readonly string[] = ['NodeLifecyclePolicy', 'FinalizerRule'];
const SCENARIO = { group: CURFEW_GROUP, version: 'v1alpha1', kind: 'Scenario' };
const OWN_VERSION = `${CURFEW_GROUP}/${SCENARIO.version}`;

/** An object of ours that lacks its version or kind: which of the two it has, and what the other one must be. */
export function halfNamed(
  value: unknown,
): { readonly has: 'apiVersion' | 'kind'; readonly lacks: string; readonly message: string } | undefined {
  if (!isJsonObject(value)) return undefined;
  const { apiVersion, kind } = value;
  const own = [...OWN_KINDS, SCENARIO.kind];
  if (apiVersion === undefined && typeof kind === 'string' && own.includes(kind))
    return { has: 'kind', lacks: 'apiVersion', message: `is missing; of a ${kind} it must be ${OWN_VERSION}` };
  if (kind === undefined && typeof apiVersion === 'string' && parseApiVersion(apiVersion).group === CURFEW_GROUP)
    return { has: 'apiVersion', lacks: 'kind', message: `is missing; it must be one of ${own.join(', ')}` };
  return undefined;
}

/** An object of our group or kinds, or nearly of one that is read, that nothing serves as it is written: it would be passed over. */
function checkKind(core: ApiServerCore, { manifest, file, placeOf }: PlacedObject): CheckedInput | undefined {
  const { apiVersion, kind, metadata } = manifest;
  const known = [...core.resources().filter(each => each.schema !== undefined), SCENARIO];
  const names = known.map(each => `${each.group}/${each.version} ${each.kind}`);
  const named = `${apiVersion} ${kind}`;
  const isMisspelt = isMisspelling(named, names);
  const isOurs = parseApiVersion(apiVersion).group === CURFEW_GROUP || OWN_KINDS.includes(kind);
  if (!isOurs && !isMisspelt) return undefined;
  const kinds = known.map(each => each.kind);
  const meant = isMisspelt ? nearestName(named, names) : names[kinds.indexOf(nearestName(kind, kinds) ?? '')];
  const place = placeOf([kinds.includes(kind) ? 'apiVersion' : 'kind']);
  const message = `there is no ${named}${didYouMean(meant)}`;
  return { file, kind, name: metadata.name, findings: [findingAt(place, message)] };
}

/** Whether nothing of it is refused. */
export const isAccepted = ({ findings }: CheckedInput): boolean => !findings.some(isError);
