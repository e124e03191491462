/** The messages of situations, as they stand in an inbox. */
import { toBusEntry, type KindWatch } from '../../shared/contract/cluster-event.ts';
import { HOOK_ANSWERED, SOURCES, TICK, type FunctionName } from '../../shared/contract/names.ts';
import { toWakeUpEnvelope } from '../../shared/contract/wake-up.ts';
import { toIsoText } from '../../shared/domain/time.ts';
import { CLUSTER_NAME } from '../scenario/scenario.ts';
import type { Message } from './situation.ts';

/** What the forwarder says of an object. */
export interface Told {
  readonly kind: string;
  readonly apiVersion: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  readonly change?: 'Added' | 'Modified' | 'Deleted';
  readonly changed?: readonly string[];
  readonly hints?: { readonly nodePool?: string; readonly nodeName?: string; readonly providerID?: string };
  readonly watch?: KindWatch;
}

/** As the forwarder would publish it for this object. */
export function clusterEvent(to: FunctionName, told: Told): Message {
  const { change = 'Modified', changed = [], hints = {}, watch, ...subject } = told;
  return {
    name: `${subject.kind} ${subject.name} ${change.toLowerCase()}`,
    to,
    body(now) {
      const { source, detailType, detail } = toBusEntry({
        schemaVersion: 1,
        cluster: CLUSTER_NAME,
        change,
        subject,
        resourceVersion: `told-${subject.uid}-${change}`,
        changed: [...changed],
        hints: { ...hints },
        groupKey: subject.uid,
        eventKey: `${subject.uid}-${change}`,
        observedTime: toIsoText(now),
        ...(watch !== undefined && { watch }),
      });
      return JSON.stringify({ source, 'detail-type': detailType, detail });
    },
  };
}

/** A worker's answer to a hook or a clean-up. */
export const workerAnswers = (key: string, result: 'succeed' | 'fail'): Message => ({
  name: `answer ${result} to ${key}`,
  to: 'finalizer',
  body: () =>
    JSON.stringify({
      id: `bus-${key}-${result}`,
      source: 'curfew.worker',
      'detail-type': HOOK_ANSWERED,
      detail: { cluster: CLUSTER_NAME, key, result },
    }),
});

/** What the forwarder says of the NodeClaim of a node. */
export function claimEvent(to: FunctionName, nodeName: string, change: Told['change'] = 'Modified'): Message {
  return clusterEvent(to, {
    kind: 'NodeClaim',
    apiVersion: 'karpenter.sh/v1',
    name: `claim-${nodeName}`,
    uid: `uid-claim-${nodeName}`,
    change,
    hints: { nodePool: 'default', nodeName },
  });
}

/** A wake-up of a node for the instant at which it is sent. */
export function wakeUpOfNode(owner: FunctionName, name: string): Message {
  return {
    name: `wake-up of node ${name}`,
    to: owner,
    body(now) {
      const subject = { apiVersion: 'v1', kind: 'Node', name, uid: `uid-${name}` } as const;
      return JSON.stringify(toWakeUpEnvelope({ owner, subject, wakeTime: now }));
    },
  };
}

/** The minute tick of the timer function. */
export const TICK_MESSAGE: Message = {
  name: 'tick',
  to: 'timer',
  body: () => JSON.stringify({ source: SOURCES.timer, 'detail-type': TICK, detail: {} }),
};
