/** The templates that policies and NodePools name, where the ConfigMap that has them is among the files. Pure. */
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import { parseTemplate } from '../../shared/custom-resource/render.ts';
import { namedTemplates } from '../../shared/domain/named-templates.ts';
import { suggestion } from '../../shared/domain/nearest-name.ts';
import { findingAt, type Finding } from '../../simulator/scenario/finding.ts';
import type { PlacedObject } from './objects.ts';
import { toDottedPath } from './value-path.ts';

/** Finds templates that no repair or hook could render. @param data keys of the ConfigMap */
export function templateFindings(
  { manifest, placeOf }: PlacedObject,
  data: Readonly<Record<string, string>>,
): readonly Finding[] {
  return namedTemplates(manifest['spec']).flatMap(({ template, path }) => {
    const fault = faultOf(template, data);
    if (fault === undefined) return [];
    return [findingAt(placeOf(toDottedPath(path)), fault, 'warning')];
  });
}

function faultOf(key: string, data: Readonly<Record<string, string>>): string | undefined {
  const configMap = `ConfigMap ${CONFIG_MAP.namespace}/${CONFIG_MAP.name}`;
  const text = Object.hasOwn(data, key) ? data[key] : undefined;
  if (text === undefined) return `${configMap} has no key ${JSON.stringify(key)}${suggestion(key, Object.keys(data))}`;
  const parsed = parseTemplate({ name: key, text });
  return parsed.ok ? undefined : `the template cannot be read: ${parsed.fault.message}`;
}
