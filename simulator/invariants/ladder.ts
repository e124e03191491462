/**
 * Nodes on which an action of `repair.actions` is under way that leaves them in place, told from the calls that repair makes: asked to
 * reboot, to be drained, or to be helped by a custom resource. From the first action until the node is well it is one repair.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext, PortCall, Run } from './invariant.ts';
import { dig, fieldsOf, listOf, millisecondsOf, textOf } from './reading.ts';
import { poolNameOf } from './repair-oracle.ts';
import { isKubernetes } from './run-journal.ts';

/** An action without a timeout of its own has this long. */
const DEFAULT_TIMEOUT = 10 * 60_000;
/** Trying again, and finding out what happened. */
const SLACK = 2 * 60_000;
const REPAIR_ANNOTATION = 'curfew.dev/repair';

export interface Climbers {
  onCall(call: PortCall, run: Run): void;
  has(nodeUid: string): boolean;
  /** When the next action may be expected. */
  nextTime(nodeUid: string): number | undefined;
  /** Those of a pool. */
  of(poolName: string | undefined): readonly string[];
}

/** @param isIll by the provider's statements */
export function createClimbers(
  { mirror, now }: Pick<CheckContext, 'mirror' | 'now'>,
  isIll: (node: KubernetesObject) => boolean,
): Climbers {
  const climbing = new Map<string, { readonly pool: string | undefined; readonly until: number }>();
  const blocks = (): readonly unknown[] =>
    [...mirror.all('nodepools').values(), ...mirror.all('nodelifecyclepolicies').values()].map(object =>
      dig(object, 'spec', 'repair'),
    );
  const isIllByUser = (node: KubernetesObject): boolean => {
    const conditions = listOf(dig(node, 'status', 'conditions')).map(fieldsOf);
    return blocks()
      .flatMap(block => listOf(dig(block, 'conditions')).map(fieldsOf))
      .some(({ type, status }) => conditions.some(each => each['type'] === type && each['status'] === status));
  };
  const longestTimeout = (): number =>
    blocks()
      .flatMap(block => listOf(dig(block, 'actions')))
      .reduce<number>(
        (longest, action) => Math.max(longest, millisecondsOf(dig(action, 'timeout')) ?? 0),
        DEFAULT_TIMEOUT,
      );

  mirror.follow((resource, uid, object) => {
    if (resource !== 'nodes' || !climbing.has(uid)) return;
    if (object === undefined || !(isIll(object) || isIllByUser(object))) climbing.delete(uid);
  });

  return {
    onCall(call, { by }) {
      const isActedOn = by === 'repair' ? selectActedOn(call) : undefined;
      if (isActedOn === undefined) return;
      for (const node of mirror.all('nodes').values()) {
        if (!isActedOn(node)) continue;
        const instance = textOf(dig(node, 'spec', 'providerID'));
        const claims = [...mirror.all('nodeclaims').values()];
        const claim = claims.find(
          each => instance !== undefined && textOf(dig(each, 'status', 'providerID')) === instance,
        );
        climbing.set(node.metadata.uid, { pool: poolNameOf(claim ?? node), until: now() + longestTimeout() + SLACK });
      }
    },
    has: uid => climbing.has(uid),
    nextTime: uid => climbing.get(uid)?.until,
    of: poolName => [...climbing].flatMap(([uid, { pool }]) => (pool === poolName ? [uid] : [])),
  };
}

/** Tells the nodes that the call acts on from the others; undefined for a call that acts on none, as nearly all of them do. */
function selectActedOn(call: PortCall): ((node: KubernetesObject) => boolean) | undefined {
  if (call.port === 'instances' && call.method === 'reboot') {
    return ({ spec }) => call.args[0] === dig(spec, 'providerID');
  }
  if (call.port === 'bus' && call.method === 'publish') {
    const requests = listOf(call.args[0]).filter(entry => dig(entry, 'detailType') === 'DrainRequested');
    const asked = new Set(requests.map(entry => dig(entry, 'detail', 'node', 'uid')));
    return asked.size === 0 ? undefined : ({ metadata }) => asked.has(metadata.uid);
  }
  if (!isKubernetes(call, 'create')) return undefined;
  const attempt = textOf(dig(call.args[1], 'metadata', 'annotations', REPAIR_ANNOTATION));
  return attempt === undefined ? undefined : ({ metadata }) => attempt.startsWith(`${metadata.uid}.`);
}
