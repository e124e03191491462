/**
 * Listeners, by which the forwarder itself learns from the objects that it publishes: which nodes are watched, which
 * kinds of custom resources are wanted, and that somebody asks for everything once more.
 */
import { ANNOTATIONS } from '../shared/contract/names.ts';
import type { CustomResources } from './custom-resources.ts';
import type { ObjectListener } from './queue.ts';
import { kindOfDrain, kindOfFinalizerRule } from './wanted-kinds.ts';
import { createWantedTemplates, type WantedTemplates } from './wanted-templates.ts';
import type { WatchedNodes } from './watched-nodes.ts';

export interface ListenersDeps {
  readonly nodes: WatchedNodes;
  readonly want: CustomResources['want'];
  readonly onRepublish: () => void;
}

/** Keyed by kind. */
export function createListeners({ nodes, want, onRepublish }: ListenersDeps): Readonly<Record<string, ObjectListener>> {
  const ofTemplates = [
    createWantedTemplates('repair', (owner, kind) => want(`repair/${owner}`, 'repair', kind)),
    createWantedTemplates('termination', (owner, kind) => want(`hook/${owner}`, 'hook', kind)),
  ];
  const templateHolder: ObjectListener = {
    present: object => ofTemplates.forEach(wanted => wanted.holder(object.metadata.uid, object)),
    gone: uid => ofTemplates.forEach(wanted => wanted.holder(uid, undefined)),
  };
  return {
    Node: {
      present: node => nodes.present('Node', node),
      gone: uid => nodes.gone(uid),
    },
    NodeClaim: {
      present: claim => nodes.present('NodeClaim', claim),
      gone: uid => nodes.gone(uid),
    },
    FinalizerRule: {
      present: rule => want(rule.metadata.uid, 'finalizer', kindOfFinalizerRule(rule)),
      gone: uid => want(uid, 'finalizer', undefined),
    },
    NodeLifecyclePolicy: templateHolder,
    NodePool: templateHolder,
    ConfigMap: configMapListener({ want, onRepublish }, ofTemplates),
  };
}

function configMapListener(
  { want, onRepublish }: Pick<ListenersDeps, 'want' | 'onRepublish'>,
  ofTemplates: readonly WantedTemplates[],
): ObjectListener {
  let seen: { readonly request: string | undefined } | undefined;
  return {
    present(configMap) {
      for (const wanted of ofTemplates) wanted.configMap(configMap);
      const kind = kindOfDrain(configMap);
      if (kind !== undefined) {
        want(configMap.metadata.uid, 'drain', kind === 'none' ? undefined : kind);
      }
      const request = configMap.metadata.annotations?.[ANNOTATIONS.republish];
      // At the start everything is published anyway.
      if (seen !== undefined && request !== undefined && request !== seen.request) onRepublish();
      seen = { request };
    },
    gone(uid) {
      for (const wanted of ofTemplates) wanted.configMap(undefined);
      want(uid, 'drain', undefined);
    },
  };
}
