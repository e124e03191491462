/** Reads what a template of the user's describes, and makes that custom resource. */
import { CONFIG_MAP } from '../contract/names.ts';
import { RESOURCES } from '../contract/resources.ts';
import { isJsonObject } from '../domain/json.ts';
import {
  parseApiVersion,
  type KubernetesManifest,
  type KubernetesObject,
  type ObjectRef,
  type ResourceType,
} from '../domain/kubernetes-object.ts';
import { notServed } from '../domain/not-served.ts';
import type { KubernetesApi } from '../ports/kubernetes-api.ts';
import { objectOf } from '../ports/read-answer.ts';
import { annotationsOf, hasMark, type Mark } from './follow.ts';
import { faultText, manifestOf, type RenderedObject } from './render.ts';

/** The template under this key of the ConfigMap; undefined: there is none. */
async function readTemplate(kubernetes: Pick<KubernetesApi, 'get'>, key: string): Promise<string | undefined> {
  const { namespace, name } = CONFIG_MAP;
  const configMap = objectOf(await kubernetes.get({ type: RESOURCES.ConfigMap, namespace, name }), {
    ifNotServed: 'throw',
  });
  const data = configMap?.['data'];
  const text = isJsonObject(data) && Object.hasOwn(data, key) ? data[key] : undefined;
  return typeof text === 'string' ? text : undefined;
}

export type DescribedResource =
  /** @property ref where the API server keeps it */
  | { readonly kind: 'served'; readonly ref: ObjectRef; readonly manifest: KubernetesManifest }
  | { readonly kind: 'notServed'; readonly message: string }
  /** Not as long as the template and its data are as they are. */
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string };

/** A template of the user's. `metadataOf`: the metadata that Curfew gives its object. `textOf`: the words for a fault of it. */
interface OwnTemplate {
  readonly key: string;
  readonly render: (text: string) => RenderedObject;
  readonly metadataOf: Parameters<typeof manifestOf>[1];
  readonly textOf?: typeof faultText;
}

/** The object that the template under this key of the ConfigMap describes, of a kind that it names itself. */
export async function readDescribedResource(
  kubernetes: Pick<KubernetesApi, 'get' | 'resolve' | 'versionsOf'>,
  { key, render, metadataOf, textOf = faultText }: OwnTemplate,
): Promise<DescribedResource> {
  const failed = (reason: string, message: string) => ({ kind: 'failed', reason, message }) as const;
  const text = await readTemplate(kubernetes, key);
  if (text === undefined)
    return failed('NoTemplate', `ConfigMap ${CONFIG_MAP.namespace}/${CONFIG_MAP.name} has no key ${key}`);
  const rendered = render(text);
  if (!rendered.ok) return failed(rendered.reason, textOf(key, rendered));
  const manifest = manifestOf(rendered.value, metadataOf);
  if (manifest === undefined) {
    const message = 'the rendered object has no apiVersion or no kind';
    return failed('RenderedYamlInvalid', textOf(key, { message }));
  }
  const { apiVersion, kind } = manifest;
  const { name = '', namespace } = manifest.metadata;
  const asked = { ...parseApiVersion(apiVersion), kind };
  const type = await kubernetes.resolve(asked);
  if (type === undefined) return { kind: 'notServed', message: notServed(asked, await kubernetes.versionsOf(asked)) };
  return { kind: 'served', ref: { type, name, ...(namespace !== undefined && { namespace }) }, manifest };
}

export type RequestOutcome =
  | { readonly kind: 'created'; readonly object: KubernetesObject }
  /** One of its name is there: look again. */
  | { readonly kind: 'exists' }
  /** Not while the template and the cluster are as they are. */
  | {
      readonly kind: 'refused';
      readonly reason: 'NamespaceNotFound' | 'ResourceRefused';
      readonly message: string;
    };

/** Creates it with the mark. What is intended must be recorded before, so that a run that dies leaves nothing that nobody knows of (I7). */
export async function requestResource(
  kubernetes: Pick<KubernetesApi, 'create'>,
  type: ResourceType,
  { metadata, ...manifest }: KubernetesManifest,
  mark: Mark,
): Promise<RequestOutcome> {
  const annotations = { ...metadata.annotations, ...annotationsOf(mark) };
  const outcome = await kubernetes.create(type, { ...manifest, metadata: { ...metadata, annotations } });
  const { kind } = manifest;
  switch (outcome.kind) {
    case 'ok':
      return { kind: 'created', object: outcome.object };
    case 'exists':
      return outcome;
    case 'notFound': {
      const message = `${kind} cannot be created: namespace ${metadata.namespace ?? '(none)'} is missing`;
      return { kind: 'refused', reason: 'NamespaceNotFound', message };
    }
    case 'invalid':
      return {
        kind: 'refused',
        reason: 'ResourceRefused',
        message: `the API server refuses the ${kind}: ${outcome.message}`,
      };
  }
}

export type MakeOutcome =
  /** Now, or by an earlier try. */
  | Extract<RequestOutcome, { kind: 'created' }>
  /** One of its name was made for something else; undefined: it is gone by now. */
  | { readonly kind: 'foreign'; readonly object: KubernetesObject | undefined }
  | Extract<RequestOutcome, { kind: 'refused' }>;

/** Creates it with the mark, unless an earlier try has. */
export async function makeResource(
  kubernetes: Pick<KubernetesApi, 'get' | 'create'>,
  ref: ObjectRef,
  manifest: KubernetesManifest,
  mark: Mark,
): Promise<MakeOutcome> {
  const find = async (): Promise<MakeOutcome | undefined> => {
    const object = objectOf(await kubernetes.get(ref), { ifNotServed: 'throw' });
    return object && { kind: hasMark(object, mark) ? 'created' : 'foreign', object };
  };
  const there = await find();
  if (there !== undefined) return there;
  const requested = await requestResource(kubernetes, ref.type, manifest, mark);
  if (requested.kind !== 'exists') return requested;
  return (await find()) ?? { kind: 'foreign', object: undefined };
}
