/** Where a path of a YAML document stands in its file. */
import { type Alias, isAlias, isMap, isNode, isScalar, isSeq, visit, type Document, type LineCounter } from 'yaml';
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
  let isThere = true;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(item => isScalar(item.key) && String(item.key.value) === String(key));
      isThere = pair !== undefined;
      if (pair === undefined) break;
      offset = offsetOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof key === 'number') {
      node = node.items[key];
      isThere = node !== undefined;
      offset = offsetOf(node) ?? offset;
    } else {
      isThere = false;
      break;
    }
  }
  const { line, col } = lines.linePos(offset);
  const ownOffset = isThere && isScalar(node) ? offsetOf(node) : undefined;
  const own = ownOffset === undefined ? undefined : lines.linePos(ownOffset);
  return {
    file,
    line,
    column: Math.max(1, col),
    ...(own?.line === line && { valueColumn: own.col }),
    path: formatPath(path),
  };
}

/**
 * The place of the first alias that is at fault; undefined: there is none.
 * @param isAtFault gets the alias, what it stands in, and the anchors that come before it
 */
export function placeOfAlias(
  file: string,
  document: Document,
  lines: LineCounter,
  isAtFault: (alias: Alias, parents: readonly unknown[], anchors: ReadonlySet<string>) => boolean,
): Place | undefined {
  const anchors = new Set<string>();
  let offset: number | undefined;
  visit(document, {
    Value(_key, { anchor }) {
      if (anchor !== undefined) anchors.add(anchor);
    },
    Alias(_key, alias, parents) {
      if (!isAtFault(alias, parents, anchors)) return undefined;
      offset = offsetOf(alias);
      return visit.BREAK;
    },
  });
  return offset === undefined ? undefined : placeAt(file, lines, offset);
}

/** The place of a character of the text. */
export function placeAt(file: string, lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { file, line, column: Math.max(1, col), path: '' };
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
