/**
 * Replacements that repair launches before an unhealthy node goes, told from the raw objects and from what repair writes:
 * - I10 each is made for a node that is unhealthy, under a name of at most 63 characters, reserved and not to be disrupted; one of a node at a time
 * - I3 the unhealthy NodeClaim goes for a replacement only once that is Ready and open
 * - I7 one that is open and well is never deleted by repair; one that is reserved goes when nothing is to be replaced, and its marks go at the end
 * - I11 a pool whose launch failed launches nothing for five minutes
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { MakeCheck } from './invariant.ts';
import { configurationIn } from './mirror.ts';
import { claimOf } from './node-pool.ts';
import { modeFor, repairBlockFor } from './policy-oracle.ts';
import { annotationOf, dig, isReservedIn, listOf, nameOf, poolNameOf, REPLACES_ANNOTATION, textOf } from './reading.ts';
import { isGateOpen } from './repair-oracle.ts';
import { conditionOf, isUnhealthy } from './unhealthy-conditions.ts';

/** What is due happens in five minutes; ms. */
const LATE = 6 * 60_000;
const PAUSE = 5 * 60_000 - 15_000;
const HOUR = 3_600_000;

export const checkReplacement: MakeCheck = ({ mirror, now, quietSince, violate }) => {
  /** When the last launch of a pool came to nothing, by its name. */
  const failed = new Map<string, number>();
  /** Since when a replacement has had no reason to stand as it does, by UID. */
  const idle = new Map<string, number>();
  /** When its taint went, by the UID of the NodeClaim. */
  const opened = new Map<string, number>();
  const nodes = (): readonly KubernetesObject[] => [...mirror.all('nodes').values()];
  const replacements = (): readonly KubernetesObject[] =>
    [...mirror.all('nodeclaims').values()].filter(claim => annotationOf(claim, REPLACES_ANNOTATION) !== undefined);
  const nodeOf = (claim: KubernetesObject): KubernetesObject | undefined =>
    mirror.named('nodes', textOf(dig(claim, 'status', 'nodeName')));
  const isOpen = (claim: KubernetesObject): boolean => {
    const node = nodeOf(claim);
    return node !== undefined && !isReservedIn(dig(node, 'spec', 'taints'));
  };

  /** By which a node may be unhealthy although the provider calls it well. */
  const hasOwnConditions = (): boolean =>
    [...mirror.all('nodepools').values(), ...mirror.all('nodelifecyclepolicies').values()].some(
      object => listOf(dig(object, 'spec', 'repair', 'conditions')).length > 0,
    );

  const isWell = (node: KubernetesObject | undefined): boolean =>
    node !== undefined && !isUnhealthy(node) && !hasOwnConditions();

  /** Whether nodes of its pool are repaired: gate, mode and block say so. */
  const isRepaired = (claim: KubernetesObject): boolean => {
    const config = configurationIn(mirror);
    const pool = mirror.named('nodepools', poolNameOf(claim));
    const policies = [...mirror.all('nodelifecyclepolicies').values()];
    const isStated = repairBlockFor(pool, policies) !== undefined;
    return isStated && isGateOpen(config) !== false && modeFor(pool, policies, 'repair') !== 'Observe';
  };

  const judgeMade = (claim: KubernetesObject): void => {
    const uid = annotationOf(claim, REPLACES_ANNOTATION) ?? '';
    const complain = (why: string): void => violate('I10', `repair makes ${nameOf(claim)}: ${why}`);
    if (claim.metadata.name.length > 63) complain('its name is too long');
    if (!isReservedIn(dig(claim, 'spec', 'taints'))) complain('it is not reserved');
    if (annotationOf(claim, 'karpenter.sh/do-not-disrupt') !== 'true') complain('it may be disrupted');
    const unhealthy = mirror.all('nodes').get(uid);
    if (unhealthy === undefined) return;
    const pool = poolNameOf(claim) ?? '';
    if (poolNameOf(claimOf(unhealthy, mirror) ?? unhealthy) !== pool) complain('it is of another NodePool');
    const others = replacements().filter(
      other =>
        annotationOf(other, REPLACES_ANNOTATION) === uid &&
        other.metadata.uid !== claim.metadata.uid &&
        other.metadata.deletionTimestamp === undefined,
    );
    if (others.length > 0) complain(`${others.map(nameOf).join(', ')} replaces the same node`);
    const since = now() - (failed.get(pool) ?? -Infinity);
    if (since < PAUSE && (quietSince() ?? Infinity) < (failed.get(pool) ?? 0))
      violate('I11', `repair makes ${nameOf(claim)} ${Math.round(since / 1000)} s after a launch of its pool failed`);
  };

  const judgeOpened = (before: KubernetesObject, after: KubernetesObject): void => {
    const taints = dig(after, 'spec', 'taints');
    if (!isReservedIn(dig(before, 'spec', 'taints')) || isReservedIn(taints)) return;
    const keys = listOf(taints).map(taint => textOf(dig(taint, 'key')) ?? '');
    const isReady = conditionOf(after, 'Ready')?.['status'] === 'True';
    const isStarting = keys.some(key => key.startsWith('readiness.k8s.io/'));
    if (!isReady || isStarting) violate('I3', `repair opens ${nameOf(after)}, which is not ready`);
  };

  const judgeDeleted = (claim: KubernetesObject): void => {
    if (annotationOf(claim, REPLACES_ANNOTATION) !== undefined) {
      const unhealthy = mirror.all('nodes').get(annotationOf(claim, REPLACES_ANNOTATION) ?? '');
      if (isOpen(claim)) {
        // An open one is a node as any other, and may have to be repaired itself.
        if (isWell(nodeOf(claim))) violate('I7', `repair deletes ${nameOf(claim)}, which is open`);
      }
      // Deleted although its node is still unhealthy and to be repaired: it did not become ready.
      else if (unhealthy !== undefined && conditionOf(unhealthy, 'Ready')?.['status'] !== 'True' && isRepaired(claim))
        failed.set(poolNameOf(claim) ?? '', now());
      return;
    }
    const node = nodes().find(each => claimOf(each, mirror)?.metadata.uid === claim.metadata.uid);
    const own = replacements().find(
      each =>
        annotationOf(each, REPLACES_ANNOTATION) === node?.metadata.uid && each.metadata.deletionTimestamp === undefined,
    );
    if (node === undefined || own === undefined || isOpen(own)) return;
    // One that gives way to the next action is on its way itself.
    const since = idle.get(own.metadata.uid);
    if (since === undefined) idle.set(own.metadata.uid, now());
  };

  return {
    onWrite({ verb, resource, before, after }, by) {
      if (by !== 'repair') return;
      if (resource.resource === 'nodes' && before !== undefined && after !== undefined) judgeOpened(before, after);
      if (resource.resource !== 'nodeclaims') return;
      if (verb === 'create' && after !== undefined) judgeMade(after);
      if (verb === 'delete' && before !== undefined) judgeDeleted(before);
    },
    onMinute() {
      const quiet = quietSince();
      const there = new Set<string>();
      for (const claim of replacements()) {
        const { uid, deletionTimestamp } = claim.metadata;
        if (deletionTimestamp !== undefined) continue;
        there.add(uid);
        if (isOpen(claim) && !opened.has(uid)) opened.set(uid, now());
        const unhealthy = mirror.all('nodes').get(annotationOf(claim, REPLACES_ANNOTATION) ?? '');
        const isLong = now() - (opened.get(uid) ?? now()) > HOUR;
        const isGoing = unhealthy !== undefined && claimOf(unhealthy, mirror)?.metadata.deletionTimestamp !== undefined;
        const isWrong = isOpen(claim)
          ? unhealthy === undefined || isLong
          : unhealthy === undefined || isGoing || isWell(unhealthy);
        if (!isWrong || quiet === undefined) {
          idle.delete(uid);
          continue;
        }
        const since = Math.max(idle.get(uid) ?? now(), quiet);
        if (!idle.has(uid)) idle.set(uid, now());
        if (now() - since <= LATE) continue;
        violate(
          'I7',
          `${nameOf(claim)} still stands as a replacement, and its node is ${unhealthy === undefined ? 'gone' : isWell(unhealthy) ? 'well' : 'on its way'}`,
        );
        idle.set(uid, Infinity);
      }
      for (const known of [idle, opened]) for (const uid of known.keys()) if (!there.has(uid)) known.delete(uid);
    },
  };
};
