/** Warns of settings that Curfew accepts, and that may do nothing of what their author expects. Pure. */
import { DRAIN_REQUESTED, HEALTH_EVENT } from '../../shared/contract/names.ts';
import { DNS_LABEL, parseTerminationBlock } from '../../shared/contract/termination-schema.ts';
import { nanosecondsToDuration, parseGoDuration } from '../../shared/domain/go-duration.ts';
import { isNever } from '../../shared/domain/repair-policy.ts';
import { fieldsOf, isJsonObject, listIn, objectIn } from '../../shared/domain/json.ts';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { HOOKS_HOLD_NOTHING } from '../../shared/domain/termination.ts';
import { isBlockless } from '../../shared/policies/deciding-policy.ts';
import { unstatedReach } from '../../shared/policies/unstated-reach.ts';
import type { Path } from '../../simulator/scenario/places.ts';
import type { Severity } from '../../simulator/scenario/finding.ts';
import type { Manifest } from './manifest.ts';

export interface Doubt {
  readonly path: Path;
  readonly message: string;
  readonly severity: Exclude<Severity, 'error'>;
}

/** Limits of which zero means that nothing ever happens, by block. */
const LIMITS = {
  repair: ['maxUnhealthy', 'maxConcurrentRepairs'],
  repairLimits: ['maxConcurrentRepairsPerZone', 'maxConcurrentRepairsPerCluster'],
} as const;

/** Blocks that only limit, so that an empty one says nothing. */
const LIMITING = ['repairLimits', 'drain'] as const;

const warning = (path: Path, message: string): Doubt => ({ path, message, severity: 'warning' });

/** @param faults what is refused of it: of what may be a misspelt block or selector, nobody says that it is missing */
export function doubtsAbout({ kind, spec }: Manifest, faults: readonly Pick<Doubt, 'path'>[]): readonly Doubt[] {
  if (!isJsonObject(spec)) return [];
  switch (kind) {
    case 'NodeLifecyclePolicy':
      return [
        ...(faults.some(isOfFrame) ? [] : reach(spec)),
        ...zeroLimits(spec),
        ...tolerationsWithoutEnd(spec),
        ...boundsOfGroups(spec),
        ...emptyLimits(spec),
        ...idleHooks(spec),
        ...hooksAsRequests(spec),
        ...idleTermination(spec),
        ...conditionsOfHealth(spec),
        ...namesOfNoNamespace(spec),
        ...labelsOfNodes(spec['nodePoolSelector']),
        ...tinyDurations(spec, ['spec']),
      ];
    case 'NodePool':
      return [
        ...zeroLimits(spec),
        ...tolerationsWithoutEnd(spec),
        ...conditionsOfHealth(spec),
        ...tinyDurations(spec['repair'], ['spec', 'repair']),
      ];
    case 'FinalizerRule':
      return [
        ...(spec['onDeadline'] !== undefined && spec['deadline'] === undefined
          ? [warning(['spec', 'onDeadline'], 'has no effect: there is no deadline')]
          : []),
        ...asRequest(spec['cleanup'], ['spec', 'cleanup']),
        ...tinyDurations(spec['deadline'], ['spec', 'deadline']),
      ];
    default:
      return [];
  }
}

const isOfFrame = ({ path }: Pick<Doubt, 'path'>): boolean => path.length <= 2 || path[1] === 'nodePoolSelector';

function reach(spec: JsonObject): readonly Doubt[] {
  if (isBlockless({ spec })) {
    return spec['mode'] === 'Observe'
      ? [{ path: ['spec'], message: 'has no block: it is a brake, and holds what would begin', severity: 'note' }]
      : [warning(['spec'], 'has no block: it has no effect, but that no brake of a more general policy holds here')];
  }
  const said = unstatedReach(spec);
  if (said !== undefined) return [warning(['spec'], `${said}: state both`)];
  return spec['mode'] === undefined
    ? [{ path: ['spec'], message: 'enforces (no mode): state the mode', severity: 'note' }]
    : [];
}

function zeroLimits(spec: JsonObject): readonly Doubt[] {
  return Object.entries(LIMITS).flatMap(([block, fields]) => {
    const limits = spec[block];
    if (!isJsonObject(limits)) return [];
    return fields.flatMap(field =>
      limits[field] === 0 || limits[field] === '0%'
        ? [warning(['spec', block, field], `is ${JSON.stringify(limits[field])}: nothing is ever repaired`)]
        : [],
    );
  });
}

/** The entries of a `repair` block that may state what the block states. */
const entriesOfRepair = (block: JsonObject) =>
  ['policies', 'conditions'].flatMap(key =>
    listIn(block, key).map((entry, index) => ({ path: ['spec', 'repair', key, index], entry: fieldsOf(entry) })),
  );

/** A duration that is read as `Never`; who writes the word knows what it does. */
function tolerationsWithoutEnd({ repair: block }: JsonObject): readonly Doubt[] {
  if (!isJsonObject(block)) return [];
  const entries = entriesOfRepair(block).map(({ path, entry }) => ({
    path: [...path, 'toleration'],
    text: entry['toleration'],
  }));
  const field = 'defaultTolerationDuration';
  return [{ path: ['spec', 'repair', field], text: block[field] }, ...entries].flatMap(({ path, text }) => {
    if (typeof text !== 'string') return [];
    const read = parseGoDuration(text);
    if (!read.ok || !isNever(nanosecondsToDuration(read.nanoseconds))) return [];
    return [warning(path, `${text} is read as Never: nothing is repaired for this, and it counts nowhere`)];
  });
}

const NO_BOUND_IN_GROUPS =
  'does not hold for nodes without a NodeClaim, which their Auto Scaling group ends at once: DrainThenTerminate lets their pods leave';

/** Drain bounds where nodes of Auto Scaling groups are terminated, too: nobody counts them there. */
function boundsOfGroups({ repair: block }: JsonObject): readonly Doubt[] {
  if (!isJsonObject(block) || block['nodesWithoutNodeClaim'] !== 'TerminateInAutoScalingGroup') return [];
  return [{ path: ['spec', 'repair'], entry: block }, ...entriesOfRepair(block)].flatMap(({ path, entry }) => {
    const bound = entry['terminationGracePeriod'];
    const stating = entry['actions'] === undefined || entry['actions'] === null ? block : entry;
    const drains = listIn(stating, 'actions').some(action => fieldsOf(action)['type'] === 'DrainThenTerminate');
    const isForceful = bound === undefined || bound === '0s';
    return isForceful || drains ? [] : [warning([...path, 'terminationGracePeriod'], NO_BOUND_IN_GROUPS)];
  });
}

function emptyLimits(spec: JsonObject): readonly Doubt[] {
  return LIMITING.flatMap(block => {
    const limits = spec[block];
    const isEmpty = isJsonObject(limits) && Object.keys(limits).length === 0;
    return isEmpty ? [warning(['spec', block], 'limits nothing: it has no effect')] : [];
  });
}

function idleHooks(spec: JsonObject): readonly Doubt[] {
  if (spec['termination'] === undefined) return [];
  const parsed = parseTerminationBlock(spec['termination'], 'spec.termination');
  if (!parsed.ok || parsed.value.builtin === 'Replace') return [];
  return parsed.value.hooks.flatMap(({ at }, index) =>
    at === 'after-terminate' ? [] : [warning(['spec', 'termination', 'hooks', index], HOOKS_HOLD_NOTHING)],
  );
}

function hooksAsRequests(spec: JsonObject): readonly Doubt[] {
  return listIn(objectIn(spec, 'termination'), 'hooks').flatMap((hook, index) =>
    asRequest(hook, ['spec', 'termination', 'hooks', index]),
  );
}

/**
 * Settings of a termination without effect: all of them under `scope: None`, and a heartbeat that outlasts its hook.
 */
function idleTermination(spec: JsonObject): readonly Doubt[] {
  const block = objectIn(spec, 'termination');
  const path = ['spec', 'termination'];
  const idle =
    block['scope'] === 'None' ? Object.keys(block).filter(key => key !== 'scope' && key !== 'finalizerName') : [];
  const parsed = parseTerminationBlock(block, 'spec.termination');
  const hooks = parsed.ok ? parsed.value.hooks : [];
  return [
    ...idle.map(key => warning([...path, key], 'has no effect: scope is None')),
    ...hooks.flatMap(({ heartbeat, deadline }, index) =>
      heartbeat !== undefined && heartbeat >= deadline
        ? [warning([...path, 'hooks', index, 'heartbeat'], 'has no effect: the deadline comes first')]
        : [],
    ),
  ];
}

/** A condition by which a node that is well counts as unhealthy. */
function conditionsOfHealth(spec: JsonObject): readonly Doubt[] {
  return listIn(objectIn(spec, 'repair'), 'conditions').flatMap((entry, index) => {
    if (!isJsonObject(entry) || entry['type'] !== 'Ready' || entry['status'] !== 'True') return [];
    return [
      warning(['spec', 'repair', 'conditions', index], 'Ready=True is a node that is well: each one is repaired'),
    ];
  });
}

function namesOfNoNamespace(spec: JsonObject): readonly Doubt[] {
  return listIn(objectIn(spec, 'protection'), 'namespaces').flatMap((entry, index) => {
    const name = isJsonObject(entry) ? entry['name'] : undefined;
    if (typeof name !== 'string' || DNS_LABEL.test(name)) return [];
    const message = `no namespace has the name ${JSON.stringify(name)}: the entry has no effect`;
    return [warning(['spec', 'protection', 'namespaces', index, 'name'], message)];
  });
}

/** The function that drains reads these from any sender. */
const REQUESTS: readonly string[] = [HEALTH_EVENT, DRAIN_REQUESTED];

/** Warns of a hook or clean-up that sends an event with the name of a request. */
function asRequest(target: JsonValue | undefined, path: Path): readonly Doubt[] {
  const { detailType } = isJsonObject(target) ? objectIn(target, 'event') : {};
  if (typeof detailType !== 'string' || !REQUESTS.includes(detailType)) return [];
  const message = `${detailType} asks Curfew for a drain: it cannot read this event as one, and parks it. Choose another name`;
  return [warning([...path, 'event', 'detailType'], message)];
}

/** Well-known labels of Nodes; a NodePool has them in its template, not itself. */
const OF_NODES =
  /^(karpenter\.(sh|k8s\.aws)\/|(topology\.|node\.|node-role\.)?kubernetes\.io\/|eks\.amazonaws\.com\/(nodegroup|capacityType|compute-type)$)/;

function labelsOfNodes(selector: JsonValue | undefined): readonly Doubt[] {
  if (!isJsonObject(selector)) return [];
  const labels = Object.keys(objectIn(selector, 'matchLabels'));
  const expressions = listIn(selector, 'matchExpressions');
  const used: readonly (readonly [JsonValue | undefined, Path])[] = [
    ...labels.map(key => [key, ['matchLabels', key]] as const),
    ...expressions.map(
      (each, index) => [isJsonObject(each) ? each['key'] : undefined, ['matchExpressions', index, 'key']] as const,
    ),
  ];
  return used.flatMap(([key, path]) => {
    if (typeof key !== 'string' || !OF_NODES.test(key)) return [];
    const message = `${key} is a label of nodes: Curfew compares the labels of NodePools, so give these one of their own`;
    return [warning(['spec', 'nodePoolSelector', ...path], message)];
  });
}

/** `ms` for `m`: nothing here is so short. Zero says what it means. */
function tinyDurations(value: JsonValue | undefined, path: Path): readonly Doubt[] {
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([key, each]) =>
      key === 'nodePoolSelector' ? [] : tinyDurations(each, [...path, key]),
    );
  }
  if (Array.isArray(value)) return value.flatMap((each, index) => tinyDurations(each, [...path, index]));
  if (typeof value !== 'string') return [];
  const read = /\d[num\u00b5\u03bc]s$/.test(value) ? parseGoDuration(value) : undefined;
  if (read?.ok !== true || read.nanoseconds <= 0n || read.nanoseconds >= 1_000_000_000n) return [];
  return [warning(path, `${value} is less than a second: minutes are m, seconds s`)];
}
