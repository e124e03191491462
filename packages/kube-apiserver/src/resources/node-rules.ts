/** Nodes: the instance that a node stands for, and its taints. */
import type { JsonObject } from '../json.ts';
import { arrayAt, isObject, objectAt, textAt, without } from '../json.ts';
import { complainAboutLabelValue, complainAboutQualifiedName } from '../names.ts';
import type { Cause } from '../status-errors.ts';
import { invalidValue, required } from '../status-errors.ts';
import type { Transition } from './resource-rules.ts';

export function prepareNode({ next }: Transition): JsonObject {
  const spec = objectAt(next, 'spec');
  // Go does not write a false here, so schedulable nodes do not have the field.
  if (spec.unschedulable === false) return { ...next, spec: without(spec, 'unschedulable') };
  return next.spec === undefined ? { ...next, spec: {} } : next;
}

/** A spec that does not change is not looked at, so that a node from before a rule can be updated. */
export function complainAboutNode({ next, old }: Transition): Cause[] {
  const spec = objectAt(next, 'spec');
  const oldSpec = objectAt(old ?? {}, 'spec');
  if (spec === oldSpec) return [];
  return [...complainAboutInstance(spec, oldSpec), ...complainAboutTaints(spec)];
}

/** A node that has an instance keeps it. */
function complainAboutInstance(spec: JsonObject, oldSpec: JsonObject): Cause[] {
  const before = textAt(oldSpec, 'providerID') ?? '';
  if (before === '' || before === textAt(spec, 'providerID')) return [];
  const message = 'Forbidden: node updates may not change providerID except from "" to valid';
  return [{ reason: 'FieldValueForbidden', field: 'spec.providerID', message }];
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function complainAboutTaints(spec: JsonObject): Cause[] {
  const seen = new Set<string>();
  return arrayAt(spec, 'taints').flatMap((taint, index) => {
    // Kubernetes names the field as if it stood under metadata.
    const path = `metadata.taints[${index}]`;
    if (!isObject(taint)) return [];
    const key = textAt(taint, 'key') ?? '';
    const value = textAt(taint, 'value') ?? '';
    const effect = textAt(taint, 'effect') ?? '';
    const identity = `${effect} ${key}`;
    const causes = [
      ...invalidValue(`${path}.key`, key, complainAboutQualifiedName(key)),
      ...invalidValue(`${path}.value`, value, complainAboutLabelValue(value)),
      ...complainAboutEffect(effect, `${path}.effect`),
    ];
    if (seen.has(identity)) {
      const shown = JSON.stringify({ key, ...(value === '' ? {} : { value }), effect });
      const message = `Duplicate value: ${shown}: taints must be unique by key and effect pair`;
      causes.push({ reason: 'FieldValueDuplicate', field: path, message });
    }
    seen.add(identity);
    return causes;
  });
}

function complainAboutEffect(effect: string, field: string): Cause[] {
  if (EFFECTS.includes(effect)) return [];
  if (effect === '') return [required(field)];
  const supported = EFFECTS.map(each => `"${each}"`).join(', ');
  return [
    {
      reason: 'FieldValueNotSupported',
      field,
      message: `Unsupported value: "${effect}": supported values: ${supported}`,
    },
  ];
}
