/**
 * The kinds of custom resources that are made of templates: actions of repairs, in policies and NodePools, and hooks of terminations name
 * keys of the ConfigMap, and the template there names its kind. One kind for each template in use.
 */
import type { GroupVersionKind, KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { parseApiVersion } from '../shared/domain/kubernetes-object.ts';
import { namedTemplates } from '../shared/domain/named-templates.ts';
import { fieldAt, textAt } from './fields.ts';

export interface WantedTemplates {
  /** Undefined: there is no ConfigMap any more. */
  configMap(object: KubernetesObject | undefined): void;
  /** A policy or NodePool as it is now; undefined: it is gone. */
  holder(uid: string, object: KubernetesObject | undefined): void;
}

/** @param want told for each template of each holder; `owner` is of its own */
export function createWantedTemplates(
  block: 'repair' | 'termination',
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
      const named = namedTemplates(object?.spec).filter(({ path }) => path.startsWith(`spec.${block}.`));
      const templates = [...new Set(named.map(({ template }) => template))];
      const before = templatesOf.get(uid) ?? [];
      for (const template of before) if (!templates.includes(template)) want(`${uid}/${template}`, undefined);
      if (templates.length === 0) templatesOf.delete(uid);
      else templatesOf.set(uid, templates);
      tell(uid, templates);
    },
  };
}

/** The kind that a template states literally; undefined if the template computes it, or states none. */
export function kindOfTemplate(text: string | undefined): GroupVersionKind | undefined {
  const apiVersion = /^apiVersion:\s*["']?([\w./-]+)["']?\s*$/m.exec(text ?? '')?.[1];
  const kind = /^kind:\s*["']?(\w+)["']?\s*$/m.exec(text ?? '')?.[1];
  return apiVersion === undefined || kind === undefined ? undefined : { ...parseApiVersion(apiVersion), kind };
}
