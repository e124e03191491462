/** Fields that a template refers to and a type does not have. */
import { ELEMENT, type Reference, references } from './references.ts';
import type { Template } from './template.ts';
import type { GoType } from './types/type.ts';

/** A reference that cannot work with data of a type. */
export interface UnknownField extends Reference {
  /** The name that is not there, and the type that does not have it. */
  readonly field: string;
  readonly type: string;
  /** Go's words, as execution would say them. */
  readonly message: string;
}

/** The references in `template` to fields that data of `type` does not have. */
export function unknownFields(template: Template, type: GoType): readonly UnknownField[] {
  return references(template).flatMap(reference => {
    const missing = firstMissing(reference.path, type);
    if (missing === undefined) return [];
    const where = `template: ${reference.template}:${reference.line}:${reference.column}: at <${reference.text}>`;
    return [
      { ...reference, ...missing, message: `${where}: can't evaluate field ${missing.field} in type ${missing.type}` },
    ];
  });
}

function firstMissing(path: readonly string[], root: GoType): { field: string; type: string } | undefined {
  let type: GoType = root;
  for (const step of path) {
    const owner = type.kind === 'pointer' && type.elem ? type.elem : type;
    if (owner.methods?.has(step)) return undefined;
    const next =
      step === ELEMENT || owner.kind === 'map' ? owner.elem : owner.fields?.find(field => field.name === step)?.type;
    if (next === undefined)
      return owner.kind === 'interface' || step === ELEMENT ? undefined : { field: step, type: type.name };
    type = next;
  }
  return undefined;
}
