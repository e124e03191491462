/** Where in a TOML text each key stands. smol-toml does not say. */
import { ParseError, parseTOML, type AST } from 'toml-eslint-parser';

/** Parts that a dotted key may have; the configuration needs three. */
export const MAX_KEY_PARTS = 16;

/** Line and column, from 1. */
export interface TomlPlace {
  readonly line: number;
  readonly column: number;
  /** The column of the value, if it stands on the line of its key. */
  readonly valueColumn?: number;
}

export interface TomlPlaces {
  /** The place of `path`, or of the nearest part above it that is in the text. */
  readonly placeOf: (path: readonly PropertyKey[]) => TomlPlace;
  /** A key with more than `MAX_KEY_PARTS` parts; what lies below it has no place. */
  readonly tooDeep: { readonly line: number; readonly parts: number } | undefined;
}

type Path = readonly (string | number)[];

/** Finds the place of every key. Never throws: in a text that the parser does not take, line 1 is the place of everything. */
export function tomlPlaces(text: string): TomlPlaces {
  /** Keyed by path, as JSON. */
  const places = new Map<string, TomlPlace>();
  let tooDeep: TomlPlaces['tooDeep'];

  function note(path: Path, place: TomlPlace): void {
    const key = JSON.stringify(path);
    if (!places.has(key)) places.set(key, place);
  }

  /** Notes a key and the tables that it implies; false: it has too many parts. */
  function noteKey(above: Path, path: Path, place: TomlPlace): boolean {
    if (path.length - above.length > MAX_KEY_PARTS) {
      tooDeep ??= { line: place.line, parts: path.length - above.length };
      return false;
    }
    for (let length = above.length + 1; length <= path.length; length++) note(path.slice(0, length), place);
    return true;
  }

  function visitPairs(pairs: readonly AST.TOMLKeyValue[], table: Path): void {
    for (const { key, value } of pairs) {
      const path = [...table, ...key.keys.map(part => (part.type === 'TOMLBare' ? part.name : part.value))];
      if (noteKey(table, path, placeAt(key, value))) visitValue(value, path);
    }
  }

  function visitValue(value: AST.TOMLContentNode, path: Path): void {
    if (value.type === 'TOMLInlineTable') visitPairs(value.body, path);
    if (value.type !== 'TOMLArray') return;
    for (const [index, element] of value.elements.entries()) {
      note([...path, index], placeAt(element, element));
      visitValue(element, [...path, index]);
    }
  }

  for (const node of bodyOf(text)) {
    if (node.type === 'TOMLKeyValue') visitPairs([node], []);
    else if (noteKey([], node.resolvedKey, placeAt(node.key))) visitPairs(node.body, node.resolvedKey);
  }
  return { placeOf: path => placeOf(places, path), tooDeep };
}

function bodyOf(text: string): readonly (AST.TOMLKeyValue | AST.TOMLTable)[] {
  try {
    return parseTOML(text).body[0].body;
  } catch (error) {
    // RangeError: the parser cannot take a string of some hundred thousand characters.
    if (error instanceof ParseError || error instanceof RangeError) return [];
    throw error;
  }
}

/** @param value what the key is for */
function placeAt(key: AST.TOMLNode, value?: AST.TOMLContentNode): TomlPlace {
  const { line, column } = key.loc.start;
  const own = value?.type === 'TOMLValue' && value.loc.start.line === line ? value.loc.start.column : undefined;
  return { line, column: column + 1, ...(own !== undefined && { valueColumn: own + 1 }) };
}

function placeOf(places: ReadonlyMap<string, TomlPlace>, path: readonly PropertyKey[]): TomlPlace {
  for (let length = path.length; length > 0; length--) {
    const place = places.get(JSON.stringify(path.slice(0, length)));
    if (place === undefined) continue;
    return length === path.length ? place : { line: place.line, column: place.column };
  }
  return { line: 1, column: 1 };
}
