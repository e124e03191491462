/** RFC 7386, both ways: what changed from one object to the next, and the next out of what changed. */

export type Json = { readonly [key: string]: unknown };

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What turns `before` into `after`; undefined when a merge patch cannot say it, since `after` has a `null` of its own. */
export function changeOf(before: Json, after: Json): Json | undefined {
  const change: Record<string, unknown> = {};
  for (const key of Object.keys(before)) if (after[key] === undefined && before[key] !== undefined) change[key] = null;
  for (const [key, value] of Object.entries(after)) {
    const old = before[key];
    if (value === null) {
      if (old === null) continue;
      return undefined;
    }
    if (value === undefined || JSON.stringify(old) === JSON.stringify(value)) continue;
    if (!isObject(value)) change[key] = value;
    else {
      // What has nothing to merge into comes whole, and a merge takes each null of it out.
      const inner = changeOf(isObject(old) ? old : {}, value);
      if (inner === undefined) return undefined;
      change[key] = inner;
    }
  }
  return change;
}

/** A new object; parts that did not change are shared with the old one. */
export function withChange(before: Json, change: Json): Json {
  const after: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete after[key];
    else if (isObject(value)) {
      const old = after[key];
      after[key] = withChange(isObject(old) ? old : {}, value);
    } else after[key] = value;
  }
  return after;
}
