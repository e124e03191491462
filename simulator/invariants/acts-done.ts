/** What Curfew has done so far, and what is so in the cluster, in the words of `words.ts`: told from writes and calls. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { ObservedWrite } from '../../packages/kube-apiserver/src/types.ts';
import type { CheckContext, PortCall } from './invariant.ts';
import { annotationOf, dig, instanceOfNode, isReservedIn, listOf, TERMINATION_TIMESTAMP, textOf } from './reading.ts';
import type { Claim } from './words.ts';

const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';
const PROTECTED_UNTIL = 'curfew.dev/protected-until';
const CORDON = 'curfew.dev/cordoned-by-drain';
const ASKS_FOR_DRAIN = 'curfew.dev/drain';
const REPAIR = 'curfew.dev/repair';
/** What was so until then may still be said: others change it between a look and the words. ms */
const SAID_WITHIN = 60_000;

export interface ActsDone {
  isTrue(claim: Claim): boolean;
  onCall(call: PortCall): void;
  onWrite(write: ObservedWrite, by: string): void;
}

type Context = Pick<CheckContext, 'mirror' | 'now' | 'current'>;

export function createActsDone({ mirror, now, current }: Context): ActsDone {
  /** Until when each is true. */
  const facts = new Map<Claim, number>();
  const begin = (claim: Claim): void => void facts.set(claim, Infinity);
  const end = (claim: Claim): void => {
    if (facts.get(claim) === Infinity) facts.set(claim, now());
  };
  const set = (claim: Claim, isSo: boolean): void => (isSo ? begin : end)(claim);
  /** Custom resources that ask for drains, by id of the drain. */
  const requests = new Map<string, KubernetesObject>();
  /** What our finalizers were put on, by UID. */
  const held = new Map<string, KubernetesObject>();

  mirror.follow((resource, uid, object) => {
    if (resource !== 'nodes') return;
    set(`cordon ${uid}`, dig(object, 'spec', 'unschedulable') === true);
    set(`take back the cordon of ${uid}`, object === undefined || annotationOf(object, CORDON) === undefined);
  });

  const noteFinalizers = ({ before, after }: ObservedWrite): void => {
    const object = after ?? before;
    if (object === undefined) return;
    const { uid } = object.metadata;
    const had = before?.metadata.finalizers ?? [];
    const has = after?.metadata.finalizers ?? [];
    for (const name of has) {
      if (!had.includes(name)) {
        begin(`put on ${name} ${uid}`);
        held.set(uid, object);
      }
      begin(`have on ${name} ${uid}`);
      end(`take off ${name} ${uid}`);
    }
    for (const name of had) {
      if (has.includes(name)) continue;
      begin(`take off ${name} ${uid}`);
      end(`put on ${name} ${uid}`);
      end(`have on ${name} ${uid}`);
    }
    begin(`have the finalizers ${has.join(', ')} on ${uid}`);
  };

  const noteProtection = ({ uid }: KubernetesObject['metadata'], { before, after }: ObservedWrite): void => {
    const marked = (object: KubernetesObject | undefined): boolean =>
      object !== undefined && annotationOf(object, PROTECTED_UNTIL) !== undefined;
    const value = after && annotationOf(after, DO_NOT_DISRUPT);
    set(`hold ${uid}`, marked(after) && value === 'true');
    set(`let go ${uid}`, marked(before) && !marked(after) && value === undefined);
    set(`disown ${uid}`, marked(before) && !marked(after));
  };

  const noteCreated = (object: KubernetesObject, resource: string): void => {
    const { uid, name } = object.metadata;
    begin(`create ${uid}`);
    if (resource === 'nodeclaims') begin(`create ${name}`);
    const drain = annotationOf(object, ASKS_FOR_DRAIN);
    if (drain !== undefined && resource !== 'nodes') requests.set(drain, object);
    const repair = annotationOf(object, REPAIR);
    if (repair !== undefined) begin(`ask for help with ${repair.replace(/\.\d+$/, '')}`);
  };

  const isOpen = (claimName: string): boolean => {
    const claim = mirror.named('nodeclaims', claimName);
    const node = mirror.named('nodes', textOf(dig(claim, 'status', 'nodeName')));
    return !isReservedIn(dig(node, 'spec', 'taints'));
  };

  /** One that cannot be told: its Node is gone, so nobody knows its instance. */
  const ofInstance = (verb: string, uid: string): boolean => {
    const instance = instanceOfNode(mirror.all('nodes').get(uid));
    return instance === undefined || facts.has(`${verb} ${instance}`);
  };

  return {
    isTrue(claim) {
      const [, verb = '', uid = ''] = /^node (\S+) (\S+)$/.exec(claim) ?? [];
      if (verb !== '') return ofInstance(verb, uid);
      if ((facts.get(claim) ?? -Infinity) >= now() - SAID_WITHIN) return true;
      const opened = /^open (\S+)$/.exec(claim)?.[1];
      if (opened !== undefined) return isOpen(opened);
      // Also by somebody else, or the object is gone.
      const [, finalizer = '', from = ''] = /^take off (\S+) (\S+)$/.exec(claim) ?? [];
      const object = held.get(from);
      if (finalizer !== '')
        return object === undefined || current(object)?.metadata.finalizers?.includes(finalizer) !== true;
      const drain = /^delete what asks for drain (.+)$/.exec(claim)?.[1];
      const made = drain === undefined ? undefined : requests.get(drain);
      return (
        drain !== undefined &&
        (made === undefined || facts.has(`delete ${made.metadata.uid}`) || current(made) === undefined)
      );
    },
    onCall({ port, method, args }) {
      const [first] = args;
      // An answer may get lost.
      if (port === 'instances' && method.startsWith('terminate')) begin(`terminate ${String(first)}`);
      if (port === 'instances' && method === 'reboot') begin(`reboot ${String(first)}`);
      if (port !== 'bus') return;
      for (const entry of listOf(first)) {
        if (dig(entry, 'detailType') !== 'DrainRequested') continue;
        begin(`ask for a drain of ${String(dig(entry, 'detail', 'node', 'uid'))}`);
      }
    },
    onWrite(write, by) {
      const { verb, before, after, resource } = write;
      const object = before ?? after;
      if (object === undefined || resource.resource === 'events') return;
      noteFinalizers(write);
      if (before === undefined) return noteCreated(object, resource.resource);
      const { uid, namespace, name, deletionTimestamp } = object.metadata;
      if (by === 'grace-period' && resource.resource === 'nodes') noteProtection(object.metadata, write);
      // One that somebody else has deleted is made to end by force.
      if (verb === 'patch' && resource.resource === 'nodeclaims' && deletionTimestamp !== undefined) {
        if (after !== undefined && annotationOf(after, TERMINATION_TIMESTAMP) !== undefined) begin(`delete ${name}`);
      }
      if (verb !== 'evict' && verb !== 'delete') return;
      begin(`${verb} ${uid}`);
      if (resource.resource === 'pods') begin(`${verb} ${namespace ?? ''}/${name}`);
      if (resource.resource === 'nodeclaims') begin(`${verb} ${name}`);
    },
  };
}
