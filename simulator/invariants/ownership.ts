/**
 * I7: Curfew undoes only what it did. Whatever it changes or takes away of an object's annotations, labels, finalizers, taints or
 * `unschedulable` must be what it had put there.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { isOurFinalizer } from './finalizers.ts';
import type { MakeCheck } from './invariant.ts';
import { dig, listOf, nameOf } from './reading.ts';

/**
 * A repair overrides a deadline that others set: unhealthy nodes do not wait for it (node-auto-repair design). The state of a drain
 * is handed from one part of NVSentinel to the next, and Curfew is one of them.
 */
const OVERRIDDEN: readonly string[] = [
  'annotation karpenter.sh/nodeclaim-termination-timestamp',
  'label dgxc.nvidia.com/nvsentinel-state',
];

const FINALIZER = 'finalizer ';
const DISRUPTED = 'taint karpenter.sh/disrupted:';
const HOLD = 'annotation karpenter.sh/do-not-disrupt';
const MARK = 'annotation curfew.dev/protected-until';
const REPLACES = 'annotation curfew.dev/replaces';
const OF_POOL = 'annotation curfew.dev/do-not-disrupt-of-pool';
const RESERVED = 'taint curfew.dev/reserved:';
const CORDON_MARK = 'annotation curfew.dev/cordoned-by-drain';
/** Annotations that Curfew alone writes are its own, also when somebody else has edited them; those by which people ask are not among them. */
const OURS: readonly string[] = [
  MARK,
  CORDON_MARK,
  ...['drain', 'drain-answer', 'last-reboot', 'watch-pods', 'termination-finalizer'].map(
    name => `annotation curfew.dev/${name}`,
  ),
];

/** A mark says whose that is which stands beside it: a cluster that starts with both was held, or cordoned, before. */
function isMarkedOurs(
  field: string,
  marks: ReadonlyMap<string, string>,
  written: ReadonlyMap<string, string>,
): boolean {
  if (OURS.includes(field)) return true;
  // Karpenter brings what stands on the NodeClaim onto its Node.
  if (
    marks.has(REPLACES) &&
    (field === REPLACES ||
      field === OF_POOL ||
      (field === HOLD && marks.get(field) === 'true' && marks.get(OF_POOL) !== 'true') ||
      field.startsWith(RESERVED))
  )
    return true;
  if (field === HOLD) return marks.get(field) === 'true' && marks.has(MARK);
  return field === 'unschedulable' && marks.has(CORDON_MARK) && !written.has(CORDON_MARK);
}

export const checkOwnership: MakeCheck = ({ mirror, violate }) => {
  /** By UID: what Curfew wrote, by field. */
  const written = new Map<string, Map<string, string>>();
  return {
    onWrite({ verb, before, after, resource }, by) {
      if (before === undefined || resource.resource === 'events') return;
      // A delete takes everything with it, and that is its purpose. A patch that ends an object has taken its last finalizers.
      if (after === undefined && verb !== 'patch' && verb !== 'update') return;
      const { uid } = before.metadata;
      const ours = written.get(uid) ?? new Map<string, string>();
      written.set(uid, ours);
      const old = after === undefined ? finalizersOf(before) : marksOf(before);
      const next = after === undefined ? new Map<string, string>() : marksOf(after);
      for (const [field, value] of old) {
        const now = next.get(field);
        if (now === value || ours.get(field) === value || isMarkedOurs(field, old, ours)) continue;
        // By its name, not by its author; when it may go is another check's business.
        if (field.startsWith(FINALIZER) && isOurFinalizer(field.slice(FINALIZER.length), mirror)) continue;
        if (OVERRIDDEN.includes(field) && (now !== undefined || field.startsWith('label'))) continue;
        // Who drains replaces a taint of that key with another effect, as Karpenter does.
        if (field.startsWith(DISRUPTED) && next.has(`${DISRUPTED}NoSchedule`)) continue;
        const change = now === undefined ? 'takes away' : `changes to ${now}`;
        violate('I7', `${by} ${change} ${field} of ${nameOf(before)}, which somebody else had set to ${value}`);
      }
      for (const [field, value] of next) if (old.get(field) !== value) ours.set(field, value);
    },
  };
};

const finalizersOf = ({ metadata: { finalizers = [] } }: KubernetesObject): Map<string, string> =>
  new Map(finalizers.map(finalizer => [`${FINALIZER}${finalizer}`, 'present']));

/** The fields that several parties share, as text. */
function marksOf(object: KubernetesObject): ReadonlyMap<string, string> {
  const marks = finalizersOf(object);
  const { annotations = {}, labels = {} } = object.metadata;
  for (const [key, value] of Object.entries(annotations)) marks.set(`annotation ${key}`, value);
  for (const [key, value] of Object.entries(labels)) marks.set(`label ${key}`, value);
  for (const taint of listOf(dig(object, 'spec', 'taints'))) {
    marks.set(
      `taint ${String(dig(taint, 'key'))}:${String(dig(taint, 'effect'))}`,
      JSON.stringify(dig(taint, 'value') ?? ''),
    );
  }
  if (dig(object, 'spec', 'unschedulable') === true) marks.set('unschedulable', 'true');
  return marks;
}
