/** Where a path of a YAML document stands in its file. */
import { isAlias, isMap, isNode, isScalar, isSeq, type Document, type LineCounter } from 'yaml';
import type { Place } from './scenario.ts';

export type Path = readonly PropertyKey[];

/** `spec.steps[2].at`; keys that are not plain names in quotes. */
export function formatPath(path: Path): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(String(key))) text += text === '' ? String(key) : `.${String(key)}`;
    else text += `[${JSON.stringify(String(key))}]`;
  }
  return text;
}

/** The place of `path`, or of the nearest part above it that exists. */
export function placeOf(file: string, document: Document, lines: LineCounter, path: Path): Place {
  let node: unknown = document.contents;
  let offset = offsetOf(node) ?? 0;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(item => isScalar(item.key) && String(item.key.value) === String(key));
      if (pair === undefined) break;
      offset = offsetOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof key === 'number') {
      node = node.items[key];
      offset = offsetOf(node) ?? offset;
    } else break;
  }
  return { file, line: lines.linePos(offset).line, path: formatPath(path) };
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
