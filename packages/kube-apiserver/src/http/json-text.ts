/** JSON texts of stored objects, made once for each: they are immutable, and lists and watches say them again and again. */
import { apiVersionOf, type KubernetesObject } from '../kubernetes-object.ts';
import type { ListResult, ResourceInfo } from '../types.ts';
import { listItem, listMeta } from './shape.ts';

const texts = new WeakMap<object, string>();
/** Of items of lists that leave out `kind` and `apiVersion`. */
const itemTexts = new WeakMap<object, string>();

function once(known: WeakMap<object, string>, object: object, make: () => unknown): string {
  const text = known.get(object) ?? JSON.stringify(make());
  known.set(object, text);
  return text;
}

/** An object as it is. */
export function objectText(object: KubernetesObject): string {
  return once(texts, object, () => object);
}

/** A list of objects as they are. */
export function listText(result: ListResult, resource: ResourceInfo): string {
  const head = { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata: listMeta(result) };
  const known = resource.schema === undefined ? itemTexts : texts;
  const items = result.items.map(item => once(known, item, () => listItem(item, resource)));
  return `${JSON.stringify(head).slice(0, -1)},"items":[${items.join(',')}]}`;
}
