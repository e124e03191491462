/** JSON of which nothing is known yet. */
import type { JsonObject } from './kubernetes-object.ts';

/** Whether a parsed JSON value is an object: neither null nor a list. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
