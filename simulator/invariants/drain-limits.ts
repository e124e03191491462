/**
 * I3: a drain that a HealthEvent asks for begins only while fewer nodes of its pool are drained than `drain.maxConcurrent` of the pool's policy
 * allows. An answer of its own, told from the audit, the objects and what was put on the bus.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { MakeCheck } from './invariant.ts';
import { applyingTo, isPolicyReadable } from './policy-oracle.ts';
import { annotationOf, dig, listOf, nameOf, poolNameOf, textOf } from './reading.ts';
import { mostOf } from './repair-census.ts';

/** A run decides on what it read this long ago, at most; ms. */
const RUN = 120_000;

export const checkDrainLimits: MakeCheck = ({ mirror, now, violate }) => {
  /** Ids of HealthEvents: others wait for nobody, or nobody here can say who asked. */
  const events = new Set<string>();
  /** By UID of the Node: its drain has begun, for the requests with these ids that have no answer yet. */
  const begun = new Map<string, Set<string>>();
  /** When a pool, a policy or the number of nodes changed last: a run may have read what was before. */
  let changed = -Infinity;
  let start: number | undefined;
  const known = new Map<string, string>();
  mirror.follow((resource, uid, object) => {
    if (resource === 'nodes' && object === undefined) begun.delete(uid);
    const text = shapeOf(resource, object);
    if (text === undefined || known.get(uid) === text) return;
    known.set(uid, text);
    start ??= now();
    // What was there at the start nobody read otherwise.
    if (now() > start) changed = now();
  });
  return {
    onBusEvent({ detailType, detail }) {
      const id = textOf(dig(detail, 'id')) ?? textOf(dig(detail, 'healthEvent', 'id'));
      if (detailType === 'HealthEvent' && id !== undefined) events.add(id);
    },
    onAudit({ function: by, decision, uid, name, details }) {
      if (by !== 'drain' || uid === undefined) return;
      if (decision === 'end') begun.delete(uid);
      if (decision !== 'begin') return;
      const ids: unknown = dig(details, 'ids');
      const isLimited = Array.isArray(ids) && ids.every(id => events.has(String(id)));
      const node = mirror.all('nodes').get(uid);
      const most = node === undefined || now() - changed < RUN ? undefined : mostDrains(node);
      if (isLimited && most !== undefined) {
        const others = nodesWith(node).filter(({ metadata }) => metadata.uid !== uid && isDraining(metadata.uid));
        if (others.length >= most) {
          violate(
            'I3',
            `the drain of Node ${name} begins while ${others.map(nameOf).join(', ')} are drained, ${most} may be`,
          );
        }
      }
      begun.set(uid, new Set(Array.isArray(ids) ? ids.map(String) : []));
    },
    onCall(call) {
      if (call.port !== 'bus') return;
      for (const entry of listOf(call.args[0])) {
        if (dig(entry, 'detailType') === 'DrainCompleted') answer(dig(entry, 'detail'));
      }
    },
  };

  /** A drain is over once who asked has the answer, also where its Node must not be changed. */
  function answer(detail: unknown): void {
    const uid = textOf(dig(detail, 'node', 'uid')) ?? '';
    const ids = begun.get(uid);
    if (ids?.delete(textOf(dig(detail, 'id')) ?? '') !== true) return;
    // Others may go on with a drain that one request has left.
    if (ids.size === 0 || dig(detail, 'status') !== 'Cancelled') begun.delete(uid);
  }

  function isDraining(uid: string): boolean {
    const node = mirror.all('nodes').get(uid);
    return begun.has(uid) && node !== undefined && annotationOf(node, 'curfew.dev/drain') !== undefined;
  }

  /** The nodes of its pool, itself among them. */
  function nodesWith(node: KubernetesObject | undefined): readonly KubernetesObject[] {
    if (node === undefined) return [];
    return [...mirror.all('nodes').values()].filter(other => poolNameOf(other) === poolNameOf(node));
  }

  /** Undefined: nothing limits its pool, or what does cannot be read. */
  function mostDrains(node: KubernetesObject): number | undefined {
    const policies = [...mirror.all('nodelifecyclepolicies').values()];
    const poolName = poolNameOf(node);
    const pool = mirror.named('nodepools', poolName);
    if (!policies.every(isPolicyReadable) || (poolName !== undefined && pool === undefined)) return undefined;
    const holder = applyingTo(pool, policies).find(policy => dig(policy, 'spec', 'drain') !== undefined);
    const most = mostOf(dig(holder, 'spec', 'drain', 'maxConcurrent'), nodesWith(node).length);
    return most === undefined ? undefined : Math.max(1, most);
  }
};

/** What the limit of a pool rests on; undefined: nothing of the object. */
function shapeOf(resource: string, object: KubernetesObject | undefined): string | undefined {
  if (resource === 'nodepools' || resource === 'nodelifecyclepolicies') {
    return JSON.stringify([object?.spec, object?.metadata.labels]);
  }
  return resource === 'nodes' ? JSON.stringify(object === undefined ? null : [poolNameOf(object)]) : undefined;
}
