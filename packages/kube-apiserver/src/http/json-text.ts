/** JSON texts of stored objects, made once for each: they are immutable, and lists and watches say them again and again. */
import { apiVersionOf, type KubernetesObject } from '../kubernetes-object.ts';
import type { ListResult, ResourceInfo } from '../types.ts';
import { listItem, listMeta } from './shape.ts';

const texts = new WeakMap<object, string>();
/** Of items of lists, with the comma after them: bytes, for a list of many is joined and sent without being encoded anew. */
const itemBytes = new WeakMap<object, Buffer>();

function once<Form>(known: WeakMap<object, Form>, object: object, make: () => Form): Form {
  const form = known.get(object) ?? make();
  known.set(object, form);
  return form;
}

/** An object as it is. */
export function objectText(object: KubernetesObject): string {
  return once(texts, object, () => JSON.stringify(object));
}

/** A list of objects as they are, with a line break at its end. Items of built-in kinds leave out `kind` and `apiVersion`. */
export function listBytes(result: ListResult, resource: ResourceInfo): Buffer {
  const head = { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata: listMeta(result) };
  const start = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`);
  const items = result.items.map(item =>
    once(itemBytes, item, () => ownBytes(`${JSON.stringify(listItem(item, resource))},`)),
  );
  const last = items.pop()?.subarray(0, -1);
  return Buffer.concat([start, ...items, ...(last === undefined ? [] : [last]), LIST_END]);
}

/** Not from the pool of Node: one small text would keep a whole slab of it alive for as long as its object is known. */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

const LIST_END = Buffer.from(']}\n');
