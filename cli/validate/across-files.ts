/** Finds faults that no file shows by itself: between policies, NodePools and rules that stand side by side. Pure. */
import { listed } from '../../shared/domain/cut-text.ts';
import { fieldsOf, textOrEmpty } from '../../shared/domain/json.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { isDeepStrictEqual } from 'node:util';
import { selects, specificity, valueOf } from '../../shared/domain/label-selector.ts';
import { suggestion } from '../../shared/domain/nearest-name.ts';
import { decisionFor, protectionDecisions, hasBlock, type Block } from '../../shared/policies/deciding-policy.ts';
import { readPolicies, type PolicySet, type ReadPolicy } from '../../shared/policies/policy-set.ts';
import { CONFLICT_BLOCKS, conflictsOver } from '../../shared/policies/policy-conflicts.ts';
import { findingAt, type Finding, type Severity } from '../../simulator/scenario/finding.ts';
import type { Path } from '../../simulator/scenario/places.ts';
import type { PlacedObject } from './objects.ts';

const BLOCKS: readonly Block[] = ['repair', 'repairLimits', 'drain', 'termination', 'protection'];

/** @param objects those that are accepted, in the order in which they are applied */
export function acrossFiles(objects: readonly PlacedObject[]): ReadonlyMap<PlacedObject, readonly Finding[]> {
  const inForce = [...new Map(objects.map(each => [keyOf(each), each])).values()];
  const known = new Map(inForce.map(each => [toObject(each), each]));
  const pools = [...known.keys()].filter(({ kind }) => kind === 'NodePool');
  const set = readPolicies([...known.keys()].filter(({ kind }) => kind === 'NodeLifecyclePolicy'));
  const at = (
    object: KubernetesObject,
    path: Path,
    message: string,
    severity: Severity = 'warning',
  ): PlacedFinding[] => {
    const placed = known.get(object);
    return placed === undefined ? [] : [{ placed, finding: findingAt(placed.placeOf(path), message, severity) }];
  };
  const tied = policyConflicts(set, pools);
  const found = [
    ...namesTaken(objects),
    ...kindsTaken(inForce),
    ...tied.flatMap(({ loser, message, severity }) => at(loser, ['spec', 'nodePoolSelector'], message, severity)),
    ...(pools.length === 0
      ? []
      : set.policies.flatMap(policy => [
          ...selectsNothing(policy, pools).flatMap(message => at(policy.object, ['spec', 'nodePoolSelector'], message)),
          ...withoutEffect(policy, pools, set).flatMap(({ block, message }) =>
            tied.some(({ loser, blocks }) => loser === policy.object && blocks.includes(block))
              ? []
              : at(policy.object, ['spec', block], message),
          ),
        ])),
  ];
  return new Map(
    objects.map(object => [object, found.flatMap(({ placed, finding }) => (placed === object ? [finding] : []))]),
  );
}

interface PlacedFinding {
  readonly placed: PlacedObject;
  readonly finding: Finding;
}

const keyOf = ({ manifest: { kind, metadata } }: PlacedObject): string => `${kind} ${metadata.name}`;

const toObject = ({ manifest }: PlacedObject): KubernetesObject => ({
  ...manifest,
  metadata: { ...manifest.metadata, uid: '', resourceVersion: '', creationTimestamp: '' },
});

/** Each object that has the key of an earlier one, with the first of them. */
function withEarlier(
  objects: readonly PlacedObject[],
  key: (object: PlacedObject) => string,
): readonly (readonly [PlacedObject, PlacedObject])[] {
  const first = new Map<string, PlacedObject>();
  return objects.flatMap(object => {
    const earlier = first.get(key(object));
    if (earlier !== undefined) return [[object, earlier] as const];
    first.set(key(object), object);
    return [];
  });
}

/** A copy that says the same, as a chart has one, is no second object. */
function namesTaken(objects: readonly PlacedObject[]): readonly PlacedFinding[] {
  return withEarlier(objects, keyOf).flatMap(([object, first]) => {
    const { kind, metadata } = object.manifest;
    if (metadata.name === '' || isDeepStrictEqual(first.manifest, object.manifest)) return [];
    const { file, line } = first.placeOf(['metadata', 'name']);
    const message = `${kind} ${metadata.name} stands at ${file}:${line} too, and says something else: what is applied last is in force`;
    return [{ placed: object, finding: findingAt(object.placeOf(['metadata', 'name']), message, 'warning') }];
  });
}

/** Finds FinalizerRules of one kind. The cluster refuses the younger; no file shows which one that is. */
function kindsTaken(objects: readonly PlacedObject[]): readonly PlacedFinding[] {
  const rules = objects.filter(({ manifest }) => manifest.kind === 'FinalizerRule');
  return withEarlier(rules, ruledKind).map(([rule, first]) => {
    const message = `FinalizerRule ${first.manifest.metadata.name} has ${ruledKind(rule)} too: the older of the two is in force, the other one puts its finalizer on nothing new`;
    return { placed: rule, finding: findingAt(rule.placeOf(['spec', 'kind']), message, 'warning') };
  });
}

function ruledKind({ manifest }: PlacedObject): string {
  const { group, kind } = fieldsOf(manifest['spec']);
  return [kind, group].map(textOrEmpty).filter(Boolean).join('.');
}

interface ConflictOfBlocks {
  readonly loser: KubernetesObject;
  readonly blocks: readonly Block[];
  readonly message: string;
  readonly severity: Severity;
}

/** With NodePools at hand only what two policies both select counts; without, the same selector twice, and a note on what could be. */
function policyConflicts(set: PolicySet, pools: readonly KubernetesObject[]): readonly ConflictOfBlocks[] {
  const selectorOf = (object: KubernetesObject): ReadPolicy['selector'] =>
    set.policies.find(each => each.object === object)?.selector ?? {};
  const conflicts = CONFLICT_BLOCKS.flatMap(block =>
    conflictsOver(block, set).map(conflict => ({ ...conflict, block })),
  );
  const pairs = new Map(
    conflicts.map(({ loser, winner }) => [`${loser.metadata.name} ${winner.metadata.name}`, { loser, winner }]),
  );
  return [...pairs.values()].flatMap(({ loser, winner }) => {
    const [own, other] = [selectorOf(loser), selectorOf(winner)];
    const common = pools.filter(({ metadata: { labels = {} } }) => selects(own, labels) && selects(other, labels));
    if (pools.length > 0 && common.length === 0) return [];
    const isSame = isDeepStrictEqual(own, other);
    const blocks = conflicts
      .filter(conflict => conflict.loser === loser && conflict.winner === winner)
      .map(({ block }) => block);
    const where = common.length > 0 ? `in ${poolsOf(common)}` : isSame ? 'anywhere' : 'where both select a NodePool';
    const why = isSame ? 'has the same nodePoolSelector' : 'has equally many requirements';
    const message = `${blocks.map(block => `spec.${block}`).join(' and ')} ${blocks.length === 1 ? 'has' : 'have'} no effect ${where}: NodeLifecyclePolicy ${winner.metadata.name} ${why} and comes first by name`;
    return [{ loser, blocks, message, severity: isSame || common.length > 0 ? 'warning' : 'note' }];
  });
}

function selectsNothing({ selector }: ReadPolicy, pools: readonly KubernetesObject[]): readonly string[] {
  if (specificity(selector) === 0 || pools.some(({ metadata }) => selects(selector, metadata.labels ?? {}))) return [];
  return [
    `selects no NodePool here: there ${pools.length === 1 ? 'is' : 'are'} ${namesOf(pools)}${nearLabel(selector, pools)}`,
  ];
}

/** Names the label of the selector that no NodePool has, and the nearest one that some NodePool has. */
function nearLabel({ matchLabels = {} }: ReadPolicy['selector'], pools: readonly KubernetesObject[]): string {
  const labels = pools.map(({ metadata }) => metadata.labels ?? {});
  for (const [key, value] of Object.entries(matchLabels)) {
    const values = labels.flatMap(each => valueOf(each, key) ?? []);
    if (values.includes(value)) continue;
    if (values.length === 0) return `; none has the label ${key}${suggestion(key, labels.flatMap(Object.keys))}`;
    return `; none has ${key} ${JSON.stringify(value)}${suggestion(value, values)}`;
  }
  return '';
}

/** Blocks before which another comes in every NodePool that the policy selects. */
function withoutEffect(
  { object, selector }: ReadPolicy,
  pools: readonly KubernetesObject[],
  set: PolicySet,
): readonly { readonly block: Block; readonly message: string }[] {
  const selected = pools.filter(({ metadata }) => selects(selector, metadata.labels ?? {}));
  if (selected.length === 0) return [];
  return BLOCKS.filter(block => hasBlock(object, block)).flatMap(block => {
    const before = selected.map(pool => comesBefore(object, pool, block, set));
    const [first] = before;
    if (first === undefined || before.includes(undefined)) return [];
    return [{ block, message: `has no effect in ${poolsOf(selected)}: ${first} comes before it` }];
  });
}

/** The policy whose block is in force in place of this one's; undefined: its own counts. */
function comesBefore(
  policy: KubernetesObject,
  pool: KubernetesObject,
  block: Block,
  set: PolicySet,
): string | undefined {
  if (block === 'repair' && pool.spec?.['repair'] !== undefined) return 'the block of the NodePool itself';
  const deciding =
    block === 'protection' ? Object.values(protectionDecisions(pool, set)) : [decisionFor(pool, block, set).policy];
  if (deciding.some(each => each?.object === policy)) return undefined;
  const other = deciding.find(each => each !== undefined)?.object.metadata.name;
  return other === undefined ? undefined : `the block of NodeLifecyclePolicy ${other}`;
}

const namesOf = (objects: readonly KubernetesObject[]): string => listed(objects.map(({ metadata }) => metadata.name));

const poolsOf = (pools: readonly KubernetesObject[]): string =>
  `${pools.length === 1 ? 'NodePool' : 'NodePools'} ${namesOf(pools)}`;
