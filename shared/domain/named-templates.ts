/** Finds the keys of the ConfigMap that an object names for templates. An object of another shape names none. */
import { isJsonObject } from './json.ts';

export interface NamedTemplate {
  readonly template: string;
  readonly path: string;
}

/**
 * Finds the templates that a policy names: those of the actions of repairs, the block's and its entries', and of the
 * hooks of terminations.
 */
export function namedTemplates(value: unknown, path = 'spec'): readonly NamedTemplate[] {
  if (typeof value === 'string')
    return /(actions\.\d+|customResource)\.template$/.test(path) ? [{ template: value, path }] : [];
  if (!isJsonObject(value) && !Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => namedTemplates(each, `${path}.${key}`));
}
