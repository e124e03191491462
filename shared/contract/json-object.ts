/** A schema for any JSON object: one walk over it. zod's own `json` tries each alternative of a union on each value. */
import type { JsonObject } from '../domain/kubernetes-object.ts';
import * as z from './zod.ts';

export const jsonObject = z.custom<JsonObject>(isPlainObject, 'must be a JSON object');

function isPlainObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isJson);
}

function isJson(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return Array.isArray(value) ? value.every(isJson) : isPlainObject(value);
}
