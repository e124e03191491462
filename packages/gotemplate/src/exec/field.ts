/** Fields, map entries and methods: `.Name` of a value. */
import { fieldOf, indirect, methodOf, type Value, asMap, isNilHeld, stringValue, zeroValue } from '../types/value.ts';
import { isExported, type Signature } from '../types/type.ts';
import type { Bytes } from '../text/bytes.ts';
import type { State } from './state.ts';

/** What a name on a value is: a method to call, or a value (undefined = none). */
export type Found = { readonly method: Signature } | { readonly value: Value | undefined };

/** Looks `name` up on `receiver`; `hasArgs`: arguments follow, which only a method can take. */
export function findField(state: State, receiver: Value | undefined, name: Bytes, hasArgs: boolean): Found {
  const quoted = stringValue(name);
  if (receiver === undefined) {
    if (state.execution.missingKey === 'error') state.fail('nil data; no entry for key %q', quoted);
    return { value: undefined };
  }
  const typeName = stringValue(receiver.type.name);
  const [target, isNil] = indirect(receiver);
  const owner = target!;
  if (owner.type.kind === 'interface' && isNil) state.fail('nil pointer evaluating %s.%s', typeName, quoted);
  const method = methodOf(owner, name);
  if (method !== undefined) return { method };
  switch (owner.type.kind) {
    case 'struct': {
      const field = fieldOf(owner, name);
      if (field === undefined) break;
      if (!isExported(name)) state.fail('%s is an unexported field of struct type %s', quoted, typeName);
      if (hasArgs) state.fail('%s has arguments but cannot be invoked as function', quoted);
      return { value: field };
    }
    case 'map':
      if (hasArgs) state.fail('%s is not a method but has arguments', quoted);
      return { value: entry(state, owner, name) };
    case 'pointer': {
      const { elem } = owner.type;
      if (elem!.kind === 'struct' && !elem!.fields!.some(field => field.name === name)) break;
      if (isNilHeld(owner)) state.fail('nil pointer evaluating %s.%s', typeName, quoted);
      break;
    }
    default:
  }
  return state.fail("can't evaluate field %s in type %s", quoted, typeName);
}

/** A map's entry; a missing one as the `missingkey` option says. */
function entry(state: State, map: Value, key: Bytes): Value | undefined {
  const found = asMap(map)?.get(key);
  if (found !== undefined) return found;
  if (state.execution.missingKey === 'error') state.fail('map has no entry for key %q', stringValue(key));
  return state.execution.missingKey === 'zero' ? zeroValue(map.type.elem!) : undefined;
}
