/**
 * The kinds of custom resources that are made of templates: `repair.actions` and `termination.hooks` of policies, and `repair.actions` of
 * NodePools, name keys of the ConfigMap, and the template there names its kind. One kind for each template in use.
 */
import type { GroupVersionKind, KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { parseApiVersion } from '../shared/domain/kubernetes-object.ts';
import { fieldAt, listAt, textAt } from './fields.ts';

export interface WantedTemplates {
  /** Undefined: there is no ConfigMap any more. */
  configMap(object: KubernetesObject | undefined): void;
  /** A policy or NodePool as it is now; undefined: it is gone. */
  holder(uid: string, object: KubernetesObject | undefined): void;
}

/** The templates that an object names, for repairs. */
export const templatesOfRepair = (object: KubernetesObject): readonly string[] =>
  named(listAt(object, 'spec', 'repair', 'actions').map(action => textAt(action, 'template')));

/** The same for the hooks of terminations. */
export const templatesOfHooks = (object: KubernetesObject): readonly string[] =>
  named(listAt(object, 'spec', 'termination', 'hooks').map(hook => textAt(hook, 'customResource', 'template')));

const named = (templates: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(templates.filter(template => template !== undefined)),
];

/** @param want told for each template of each holder; `owner` is of its own */
export function createWantedTemplates(
  templatesIn: (object: KubernetesObject) => readonly string[],
  want: (owner: string, kind: GroupVersionKind | undefined) => void,
): WantedTemplates {
  const templatesOf = new Map<string, readonly string[]>();
  let data: unknown;
  const tell = (uid: string, templates: readonly string[]): void => {
    for (const template of templates) want(`${uid}/${template}`, kindOfTemplate(textAt(data, template)));
  };
  return {
    configMap(object) {
      data = object && fieldAt(object, 'data');
      for (const [uid, templates] of templatesOf) tell(uid, templates);
    },
    holder(uid, object) {
      const templates = object === undefined ? [] : templatesIn(object);
      const before = templatesOf.get(uid) ?? [];
      for (const template of before) if (!templates.includes(template)) want(`${uid}/${template}`, undefined);
      if (templates.length === 0) templatesOf.delete(uid);
      else templatesOf.set(uid, templates);
      tell(uid, templates);
    },
  };
}

/** What a template says of its kind in so many words; undefined where it computes it, or says nothing. */
export function kindOfTemplate(text: string | undefined): GroupVersionKind | undefined {
  const apiVersion = /^apiVersion:\s*["']?([\w./-]+)["']?\s*$/m.exec(text ?? '')?.[1];
  const kind = /^kind:\s*["']?(\w+)["']?\s*$/m.exec(text ?? '')?.[1];
  return apiVersion === undefined || kind === undefined ? undefined : { ...parseApiVersion(apiVersion), kind };
}
