/**
 * The condition that lets PutEvents have these sources only. `events:source` is a key of many values, for which IAM asks for a set operator;
 * `ForAllValues` alone would hold without any.
 */
export function onlyFromSources(sources: readonly string[]) {
  return { 'ForAllValues:StringEquals': { 'events:source': sources }, Null: { 'events:source': 'false' } };
}
