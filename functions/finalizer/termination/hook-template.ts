/**
 * The template of a hook's custom resource: Go's text/template, a key of the ConfigMap `curfew-config`. It gets `.Hook`, `.At`,
 * `.ProviderID`, `.Deadline` (RFC 3339), `.Forced` (a boolean) and the objects `.NodeClaim` and `.Node` as the API server has them; absent ones are nil. Name and
 * owner of what it renders are ours.
 */
import { manifestOf, renderObject } from '../../../shared/custom-resource/render.ts';
import { toJson } from '../../../shared/domain/json.ts';
import type { JsonObject, KubernetesManifest, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';

export interface HookTemplateData {
  readonly hook: string;
  readonly at: string;
  readonly providerID: string | undefined;
  readonly deadline: string;
  /** The resource is made at a deadline or for a forceful repair: nothing waits for it. */
  readonly isForced: boolean;
  readonly claim: KubernetesObject | undefined;
  readonly node: KubernetesObject | undefined;
  /** The object that the termination is about: it owns the resource, which goes with it. */
  readonly owner: KubernetesObject;
}

export type RenderedHook =
  { readonly ok: true; readonly manifest: KubernetesManifest } | { readonly ok: false; readonly message: string };

/** Renders the template. Never throws. */
export function renderHookResource(template: string, file: string, data: HookTemplateData): RenderedHook {
  const { hook, at, providerID, deadline, isForced, claim, node, owner } = data;
  const rendered = renderObject(
    { name: file, text: template },
    {
      Hook: hook,
      At: at,
      ProviderID: providerID ?? '',
      Deadline: deadline,
      Forced: isForced,
      NodeClaim: asJson(claim),
      Node: asJson(node),
    },
  );
  if (!rendered.ok) return { ok: false, message: `template ${file}: ${rendered.message}` };
  const { apiVersion, kind, metadata } = owner;
  const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }];
  const named = { name: `${hook}-${metadata.uid}`, ownerReferences };
  const manifest = manifestOf(rendered.value, given => ({ ...given, ...named }));
  if (manifest === undefined)
    return { ok: false, message: `template ${file} rendered an object without apiVersion and kind` };
  return { ok: true, manifest };
}

/** The object as plain JSON. */
const asJson = (object: KubernetesObject | undefined): JsonObject | null =>
  object === undefined ? null : toJson(object);
