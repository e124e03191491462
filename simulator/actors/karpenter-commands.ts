/**
 * What a Karpenter that acts by itself carries out: it taints a Node and marks its NodeClaim, launches what its pods need, deletes the NodeClaim once
 * that is initialized, and takes all back where nothing comes.
 */
import type { JsonObject, JsonValue, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  minutes,
  parseTimestamp,
  toTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import { arrayAt, isObject } from '../../packages/kube-apiserver/src/json.ts';
import { getSame, refOf, RESOURCE_TYPES, says, unlessRefused, type ActorApi } from './actor.ts';
import { DISRUPTED, TERMINATION_TIMESTAMP } from './karpenter-drain.ts';
import { NODE_POOL_LABEL, type Managed } from './karpenter-cluster.ts';

const GIVEN_UP_AFTER = minutes(10);

export interface Command extends Managed {
  readonly reason: 'Unhealthy' | 'Drifted' | 'Empty' | 'Underutilized';
  /** Its pods need a node. */
  readonly isReplaced: boolean;
  /** Pods have this long from the deletion on; undefined: as the NodeClaim says. */
  readonly bound: DurationMs | undefined;
}

interface Running extends Command {
  readonly since: EpochMs;
  readonly replacement: KubernetesObject | undefined;
}

export interface Commands {
  readonly begin: (command: Command, now: EpochMs) => void;
  /** Carries on what has begun. */
  readonly look: (now: EpochMs) => void;
  readonly count: () => number;
}

export function createCommands(core: ActorApi, user: string): Commands {
  /** By UID of the NodeClaim. */
  const running = new Map<string, Running>();
  let launched = 0;
  const act = createActs(core, user);

  const launch = ({ claim, pool = '' }: Command): KubernetesObject | undefined => {
    const { labels = {}, ownerReferences = [], annotations = {} } = claim.metadata;
    const hashes = Object.entries(annotations).filter(([key]) => key.startsWith('karpenter.sh/nodepool-hash'));
    const name = `${pool}-${user.replaceAll(/[^0-9]/g, '')}-${(launched += 1)}`;
    const metadata = {
      name,
      labels: { ...labels, [NODE_POOL_LABEL]: pool },
      ownerReferences,
      annotations: Object.fromEntries(hashes),
    };
    const manifest = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata, spec: claim.spec ?? {} };
    return unlessRefused(() => core.create(RESOURCE_TYPES.nodeclaims, manifest, { user }));
  };

  const end = (uid: string, command: Running, isCarriedOut: boolean, now: EpochMs): void => {
    running.delete(uid);
    const { node, claim, replacement, bound } = command;
    if (isCarriedOut) return act.terminate(claim, bound, now);
    act.setTaint(node, DISRUPTED.key, false);
    act.setCondition(claim, 'DisruptionReason', undefined);
    if (replacement !== undefined) act.remove('nodeclaims', replacement);
  };

  return {
    begin(command, now) {
      const { node, claim, reason, isReplaced } = command;
      act.setTaint(node, DISRUPTED.key, true);
      act.setCondition(claim, 'DisruptionReason', { status: 'True', reason, lastTransitionTime: toTimestamp(now) });
      const replacement = isReplaced ? launch(command) : undefined;
      running.set(claim.metadata.uid, { ...command, since: now, replacement });
    },
    look(now) {
      for (const [uid, command] of running) {
        const { claim, isReplaced, replacement, since } = command;
        const current = getSame(core, refOf(RESOURCE_TYPES.nodeclaims, claim), uid);
        if (current === undefined || current.metadata.deletionTimestamp !== undefined) {
          running.delete(uid);
          continue;
        }
        const made =
          replacement && getSame(core, refOf(RESOURCE_TYPES.nodeclaims, replacement), replacement.metadata.uid);
        const isReady = !isReplaced || (made !== undefined && says(made, 'Initialized'));
        if (isReady) end(uid, command, true, now);
        else if (made === undefined || addDuration(since, GIVEN_UP_AFTER) <= now) end(uid, command, false, now);
      }
    },
    count: () => running.size,
  };
}

interface Acts {
  /** `bound`: until when pods may take at the most, from now on; undefined: as the NodeClaim says. */
  readonly terminate: (claim: KubernetesObject, bound: DurationMs | undefined, now: EpochMs) => void;
  readonly remove: (resource: 'nodeclaims', object: KubernetesObject) => void;
  readonly setTaint: (node: KubernetesObject, key: string, isOn: boolean) => void;
  /** Labels and annotations; null takes one off. */
  readonly mark: (resource: 'nodes' | 'nodeclaims', object: KubernetesObject, metadata: JsonObject) => void;
  /** undefined takes it off. */
  readonly setCondition: (claim: KubernetesObject, type: string, condition: JsonObject | undefined) => void;
}

/** The writes, each on the object as it is by now. */
export function createActs(core: ActorApi, user: string): Acts {
  const patch = (
    resource: 'nodes' | 'nodeclaims',
    object: KubernetesObject,
    body: (current: KubernetesObject) => JsonObject,
    subresource?: 'status',
  ): void => {
    const ref = refOf(RESOURCE_TYPES[resource], object);
    const current = getSame(core, ref, object.metadata.uid);
    if (current === undefined) return;
    const options = { user, ...(subresource && { subresource }) };
    unlessRefused(() => core.patch(ref, { type: 'merge', body: body(current) }, options));
  };
  const remove: Acts['remove'] = (resource, object) => {
    const options = { user, preconditions: { uid: object.metadata.uid } };
    unlessRefused(() => core.delete(refOf(RESOURCE_TYPES[resource], object), options));
  };
  return {
    remove,
    terminate(claim, bound, now) {
      if (bound !== undefined) {
        const until = addDuration(now, bound);
        patch('nodeclaims', claim, ({ metadata }) => {
          const stated = parseTimestamp(metadata.annotations?.[TERMINATION_TIMESTAMP] ?? '');
          // Never later than one that stands there.
          const annotations =
            stated !== undefined && stated <= until ? {} : { [TERMINATION_TIMESTAMP]: toTimestamp(until) };
          return { metadata: { uid: metadata.uid, annotations } };
        });
      }
      remove('nodeclaims', claim);
    },
    mark(resource, object, marks) {
      patch(resource, object, ({ metadata }) => ({ metadata: { uid: metadata.uid, ...marks } }));
    },
    setTaint(node, key, isOn) {
      patch('nodes', node, ({ metadata, spec = {} }) => {
        const others = arrayAt(spec, 'taints').filter((taint: JsonValue) => !isObject(taint) || taint['key'] !== key);
        const taints = isOn ? [...others, { key, effect: 'NoSchedule' }] : others;
        return { metadata: { uid: metadata.uid }, spec: { taints } };
      });
    },
    setCondition(claim, type, condition) {
      patch(
        'nodeclaims',
        claim,
        ({ metadata, status = {} }) => {
          const others = arrayAt(status, 'conditions').filter(each => !isObject(each) || each['type'] !== type);
          const conditions = condition === undefined ? others : [...others, { type, message: '', ...condition }];
          return { metadata: { uid: metadata.uid }, status: { conditions } };
        },
        'status',
      );
    },
  };
}
