/** JSON patch (RFC 6902). */
import jsonPatchLibrary from 'fast-json-patch';
import type { Operation } from 'fast-json-patch';
import type { JsonObject } from '../json.ts';
import { copyJson, isObject } from '../json.ts';
import { unprocessable } from '../status-errors.ts';

const { JsonPatchError, applyPatch, getValueByPointer, unescapePathComponent } = jsonPatchLibrary;

const NAMES = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

/**
 * @returns a new object; the target is left as it is
 * @throws ApiStatusError 422 for what is not an operation and for one that fails (a `test` included)
 */
export function jsonPatch(target: JsonObject, operations: readonly JsonObject[]): JsonObject {
  const checked = operations.map(operation => {
    const copy = copyJson(operation);
    if (!isOperation(copy)) throw refused();
    return copy;
  });
  try {
    let result: unknown = copyJson(target);
    for (const operation of checked) {
      const understood = asUnderstood(operation, result);
      result = applyPatch(result, [understood], true, true, true).newDocument;
    }
    if (isObject(result)) return result;
  } catch (error) {
    if (error instanceof JsonPatchError) throw refused();
    throw error;
  }
  throw refused();
}

/** The library behind kube-apiserver takes a `replace` of a member that an object lacks for an `add`. */
function asUnderstood(operation: Operation, document: unknown): Operation {
  if (operation.op !== 'replace') return operation;
  const slash = operation.path.lastIndexOf('/');
  const parent: unknown = slash < 0 ? undefined : getValueByPointer(document, operation.path.slice(0, slash));
  const isLacking = isObject(parent) && !Object.hasOwn(parent, unescapePathComponent(operation.path.slice(slash + 1)));
  return isLacking ? { ...operation, op: 'add' } : operation;
}

function refused() {
  return unprocessable('the server rejected our request due to an error in our request');
}

function isOperation(value: unknown): value is Operation {
  return isObject(value) && typeof value.op === 'string' && NAMES.has(value.op) && typeof value.path === 'string';
}
