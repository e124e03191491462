/** JSON patch (RFC 6902). */
import jsonPatchLibrary from 'fast-json-patch';
import type { Operation } from 'fast-json-patch';
import type { JsonObject, JsonValue } from '../json.ts';
import { copyJson, isObject } from '../json.ts';
import { unprocessable } from '../status-errors.ts';

const { applyPatch, getValueByPointer, unescapePathComponent } = jsonPatchLibrary;

const NAMES = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);
const FROM = new Set(['move', 'copy']);

/**
 * @returns a new object; the target is left as it is
 * @throws ApiStatusError 422 for what is not an operation and for one that fails (a `test` included)
 */
export function jsonPatch(target: JsonObject, operations: readonly JsonObject[]): JsonObject {
  let result: unknown = copyJson(target);
  for (const operation of operations) result = applied(copyJson(operation), result);
  if (isObject(result)) return result;
  throw refused();
}

function applied(operation: JsonValue, document: unknown): unknown {
  if (!isOperation(operation)) throw refused();
  try {
    const understood = asUnderstood(operation, document);
    return understood === undefined ? document : applyPatch(document, [understood], true, true, true).newDocument;
  } catch {
    // A path through what is not there ends in whatever error it meets.
    throw refused();
  }
}

/**
 * What the library behind kube-apiserver makes of an operation: it takes a `replace` of a member that an object lacks for an `add`, a value
 * that is not given for null, and what is not there for null, in `test` and `copy`; of the whole document it replaces and tests only.
 * @returns undefined when nothing is left to do
 */
function asUnderstood(operation: Operation, document: unknown): Operation | undefined {
  switch (operation.op) {
    case 'test':
      if (isLacking(operation.path, document)) return (operation.value ?? null) === null ? undefined : operation;
      return { ...operation, value: operation.value ?? null };
    case 'replace':
      return {
        ...operation,
        op: isLacking(operation.path, document) ? 'add' : 'replace',
        value: operation.value ?? null,
      };
    case 'add':
      return { ...within(operation), value: operation.value ?? null };
    case 'copy':
      return isLacking(operation.from, document)
        ? { op: 'add', path: within(operation).path, value: null }
        : within(operation);
    case 'move':
    case 'remove':
      return within(operation);
    case '_get':
      throw refused();
  }
}

/** An operation on a part of the document. */
function within<Each extends Operation>(operation: Each): Each {
  if (operation.path === '' || ('from' in operation && operation.from === '')) throw refused();
  return operation;
}

/** Whether the path is of a member that its object lacks. */
function isLacking(path: string, document: unknown): boolean {
  const slash = path.lastIndexOf('/');
  const parent: unknown = slash < 0 ? undefined : getValueByPointer(document, path.slice(0, slash));
  return isObject(parent) && !Object.hasOwn(parent, unescapePathComponent(path.slice(slash + 1)));
}

function refused() {
  return unprocessable('the server rejected our request due to an error in our request');
}

function isOperation(value: unknown): value is Operation {
  return (
    isObject(value) &&
    typeof value.op === 'string' &&
    NAMES.has(value.op) &&
    isPointer(value.path) &&
    (isPointer(value.from) || !FROM.has(value.op))
  );
}

const isPointer = (value: unknown): boolean => typeof value === 'string' && /^(?:$|\/)/.test(value);
