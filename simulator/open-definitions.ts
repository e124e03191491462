/**
 * CustomResourceDefinitions that keep fields which their schemas do not know. A cluster prunes such fields of what a lenient client
 * sends, and kubectl refuses them; in a scenario they stay, so that a misspelt policy shows what Curfew says to it.
 */
import type { JsonValue, KubernetesManifest } from '../shared/domain/kubernetes-object.ts';
import { isArray, isObject } from '../packages/kube-apiserver/src/json.ts';

const KEEP = 'x-kubernetes-preserve-unknown-fields';

/** The definition with every object schema open. */
export function openDefinition(definition: KubernetesManifest): KubernetesManifest {
  const { spec } = definition;
  return isObject(spec) ? { ...definition, spec: open(spec) } : definition;
}

function open<Value extends JsonValue | undefined>(value: Value): Value;
function open(value: JsonValue | undefined): JsonValue | undefined {
  if (isArray(value)) return value.map(open);
  if (!isObject(value)) return value;
  const opened = Object.fromEntries(Object.entries(value).map(([key, field]) => [key, open(field)]));
  return value['type'] === 'object' && isObject(value['properties']) ? { ...opened, [KEEP]: true } : opened;
}
