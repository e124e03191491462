/** Changes that admission policies deny. Each try says anew that one still does: Curfew tries again within five minutes (I5). */
import type { LastDenial, Named, PortCall } from './invariant.ts';
import type { Mirror } from './mirror.ts';
import { dig, textOf } from './reading.ts';
import { isKubernetes, targetOf, type Target } from './run-journal.ts';

export interface Denials {
  readonly last: LastDenial;
  readonly ofItself: LastDenial;
  onAnswer(call: PortCall): void;
}

const keyOf = (resource: string, { name = '', namespace = '' }: Named): string => `${resource} ${namespace}/${name}`;

/** @param refusedUntil what the scenario lets the API server refuse */
export function createDenials(mirror: Mirror, now: () => number, refusedUntil: LastDenial): Denials {
  const last = new Map<string, number>();
  /** Of a pod on it, by the name of the Node. */
  const ofPods = new Map<string, number>();
  const ofItself: LastDenial = (resource, target) =>
    Math.max(last.get(keyOf(resource, target)) ?? -Infinity, refusedUntil(resource, target));
  return {
    ofItself,
    last(resource, target) {
      if (resource !== 'nodes') return ofItself(resource, target);
      const { name = '' } = target;
      const refused = podsOn(name, mirror).map(pod => refusedUntil('pods', pod));
      return Math.max(ofItself(resource, target), ofPods.get(name) ?? -Infinity, ...refused);
    },
    onAnswer(call) {
      if (denialIn(call) === undefined) return;
      const target = changedBy(call);
      last.set(keyOf(target.resource, target), now());
      const node = target.resource === 'pods' ? nodeOfPod(target, mirror) : undefined;
      if (node !== undefined) ofPods.set(node, now());
    },
  };
}

/** What a policy said when it denied the call. */
export function denialIn(call: PortCall): string | undefined {
  if (!isKubernetes(call, 'create', 'patch', 'delete', 'evict')) return undefined;
  const { outcome } = call;
  const answer = outcome.kind === 'failed' ? outcome.error : outcome.kind === 'answered' ? outcome.value : undefined;
  return /\w+ '[^']*' with binding '[^']*' denied request: .*/s.exec(textOf(dig(answer, 'message')) ?? '')?.[0];
}

/** What the call would have changed; what it creates has its name in the manifest. */
export function changedBy(call: PortCall): Target {
  const target = targetOf(call);
  if (call.method !== 'create') return target;
  const { name, namespace } = {
    name: dig(call.args[1], 'metadata', 'name'),
    namespace: dig(call.args[1], 'metadata', 'namespace'),
  };
  return { ...target, name: textOf(name), namespace: textOf(namespace) };
}

const podsOn = (node: string | undefined, mirror: Mirror): readonly Named[] =>
  [...mirror.all('pods').values()]
    .filter(pod => textOf(dig(pod, 'spec', 'nodeName')) === node)
    .map(({ metadata }) => metadata);

/** Undefined for a pod that is gone, or has no node. */
export const nodeOfPod = ({ name, namespace }: Named, mirror: Mirror): string | undefined =>
  textOf(
    dig(
      [...mirror.all('pods').values()].find(
        ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
      ),
      'spec',
      'nodeName',
    ),
  );
