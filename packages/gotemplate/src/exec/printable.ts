/** What an action's value prints as. */
import { indirect, stringValue, type Value, methodOf } from '../types/value.ts';

/** The value to print (`value` undefined = nil); undefined for a function, which cannot be printed. */
export function printable(v: Value | undefined): { readonly value: Value | undefined } | undefined {
  const target = v?.type.kind === 'pointer' ? indirect(v)[0] : v;
  if (target === undefined) return { value: stringValue('<no value>') };
  if (target.type.kind === 'func' && methodOf(target, 'String') === undefined) return undefined;
  if (target.type.kind === 'interface') return { value: (target.held as Value | null) ?? undefined };
  return { value: target };
}
