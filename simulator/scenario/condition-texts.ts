/** Conditions whose fields are no text, such as `status: True` without quotes. The API server would refuse the object; here no rule would ever match it. */
import { isArray, isObject } from '../../packages/kube-apiserver/src/json.ts';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
import type { Misspelling } from './object-fields.ts';

const TEXTS = ['type', 'status', 'reason', 'message'];

/** The fields of conditions in an object, or in what is merged into one, that must be text and are not. */
export function conditionsWithoutText({ status }: JsonObject, path: readonly PropertyKey[]): readonly Misspelling[] {
  const conditions = isObject(status) ? status['conditions'] : undefined;
  if (!isArray(conditions)) return [];
  return conditions.flatMap((condition, index) => {
    if (!isObject(condition)) return [];
    return TEXTS.flatMap(key => {
      const value = condition[key];
      if (value === undefined || value === null || typeof value === 'string') return [];
      return [{ path: [...path, 'status', 'conditions', index, key], message: mustBeText(value) }];
    });
  });
}

export function mustBeText(value: JsonValue): string {
  if (typeof value === 'object') return 'must be text';
  const text = String(value);
  const meant = typeof value === 'boolean' ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text;
  return `must be text, not ${text}: write "${meant}", with the quotes`;
}
