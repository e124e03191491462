/** On which line of a TOML text each key stands. smol-toml does not say. */
import { ParseError, parseTOML, type AST } from 'toml-eslint-parser';

/** Parts that a dotted key may have; the configuration needs three. */
export const MAX_KEY_PARTS = 16;

export interface TomlPlaces {
  /** The line of `path`, or of the nearest part above it that is in the text. From 1. */
  readonly lineOf: (path: readonly PropertyKey[]) => number;
  /** A key with more than `MAX_KEY_PARTS` parts; what lies below it has no place. */
  readonly tooDeep: { readonly line: number; readonly parts: number } | undefined;
}

type Path = readonly (string | number)[];

/** Finds the place of every key. Never throws: in a text that the parser does not take, line 1 is the place of everything. */
export function tomlPlaces(text: string): TomlPlaces {
  /** By path, as JSON. */
  const lines = new Map<string, number>();
  let tooDeep: TomlPlaces['tooDeep'];

  function note(path: Path, line: number): void {
    const key = JSON.stringify(path);
    if (!lines.has(key)) lines.set(key, line);
  }

  /** Notes a key and the tables that it implies; false: it has too many parts. */
  function noteKey(above: Path, path: Path, line: number): boolean {
    if (path.length - above.length > MAX_KEY_PARTS) {
      tooDeep ??= { line, parts: path.length - above.length };
      return false;
    }
    for (let length = above.length + 1; length <= path.length; length++) note(path.slice(0, length), line);
    return true;
  }

  function visitPairs(pairs: readonly AST.TOMLKeyValue[], table: Path): void {
    for (const { key, value } of pairs) {
      const path = [...table, ...key.keys.map(part => (part.type === 'TOMLBare' ? part.name : part.value))];
      if (noteKey(table, path, key.loc.start.line)) visitValue(value, path);
    }
  }

  function visitValue(value: AST.TOMLContentNode, path: Path): void {
    if (value.type === 'TOMLInlineTable') visitPairs(value.body, path);
    if (value.type !== 'TOMLArray') return;
    for (const [index, element] of value.elements.entries()) {
      note([...path, index], element.loc.start.line);
      visitValue(element, [...path, index]);
    }
  }

  for (const node of bodyOf(text)) {
    if (node.type === 'TOMLKeyValue') visitPairs([node], []);
    else if (noteKey([], node.resolvedKey, node.loc.start.line)) visitPairs(node.body, node.resolvedKey);
  }
  return { lineOf: path => lineOf(lines, path), tooDeep };
}

function bodyOf(text: string): readonly (AST.TOMLKeyValue | AST.TOMLTable)[] {
  try {
    return parseTOML(text).body[0].body;
  } catch (error) {
    // RangeError: the parser cannot hold a string of some hundred thousand characters.
    if (error instanceof ParseError || error instanceof RangeError) return [];
    throw error;
  }
}

function lineOf(lines: ReadonlyMap<string, number>, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const line = lines.get(JSON.stringify(path.slice(0, length)));
    if (line !== undefined) return line;
  }
  return 1;
}
