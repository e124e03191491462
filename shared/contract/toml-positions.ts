/** Finds the position of each key in a TOML text, which smol-toml does not tell. */
import { ParseError, parseTOML, type AST } from 'toml-eslint-parser';

/** Parts that a dotted key may have; the configuration needs three. */
export const MAX_KEY_PARTS = 16;

/** Line and column, from 1. */
export interface TomlPosition {
  readonly line: number;
  readonly column: number;
  /** The column of the value, if it stands on the line of its key. */
  readonly valueColumn?: number;
}

export interface TomlPositions {
  /** The position of `path`, or of the nearest part above it that is in the text. */
  readonly positionOf: (path: readonly PropertyKey[]) => TomlPosition;
  /** A key with more than `MAX_KEY_PARTS` parts; what lies below it has no position. */
  readonly tooDeep: { readonly line: number; readonly parts: number } | undefined;
}

type Path = readonly (string | number)[];

/** Finds the position of every key. Never throws: in a text that the parser does not take, line 1 is the position of everything. */
export function tomlPositions(text: string): TomlPositions {
  /** Keyed by path, as JSON. */
  const positions = new Map<string, TomlPosition>();
  let tooDeep: TomlPositions['tooDeep'];

  function note(path: Path, position: TomlPosition): void {
    const key = JSON.stringify(path);
    if (!positions.has(key)) positions.set(key, position);
  }

  /** Notes a key and the tables that it implies; false: it has too many parts. */
  function noteKey(above: Path, path: Path, position: TomlPosition): boolean {
    if (path.length - above.length > MAX_KEY_PARTS) {
      tooDeep ??= { line: position.line, parts: path.length - above.length };
      return false;
    }
    for (let length = above.length + 1; length <= path.length; length++) note(path.slice(0, length), position);
    return true;
  }

  function visitPairs(pairs: readonly AST.TOMLKeyValue[], table: Path): void {
    for (const { key, value } of pairs) {
      const path = [...table, ...key.keys.map(part => (part.type === 'TOMLBare' ? part.name : part.value))];
      if (noteKey(table, path, positionAt(key, value))) visitValue(value, path);
    }
  }

  function visitValue(value: AST.TOMLContentNode, path: Path): void {
    if (value.type === 'TOMLInlineTable') visitPairs(value.body, path);
    if (value.type !== 'TOMLArray') return;
    for (const [index, element] of value.elements.entries()) {
      note([...path, index], positionAt(element, element));
      visitValue(element, [...path, index]);
    }
  }

  for (const node of bodyOf(text)) {
    if (node.type === 'TOMLKeyValue') visitPairs([node], []);
    else if (noteKey([], node.resolvedKey, positionAt(node.key))) visitPairs(node.body, node.resolvedKey);
  }
  return { positionOf: path => positionOf(positions, path), tooDeep };
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
function positionAt(key: AST.TOMLNode, value?: AST.TOMLContentNode): TomlPosition {
  const { line, column } = key.loc.start;
  const own = value?.type === 'TOMLValue' && value.loc.start.line === line ? value.loc.start.column : undefined;
  return { line, column: column + 1, ...(own !== undefined && { valueColumn: own + 1 }) };
}

function positionOf(positions: ReadonlyMap<string, TomlPosition>, path: readonly PropertyKey[]): TomlPosition {
  for (let length = path.length; length > 0; length--) {
    const position = positions.get(JSON.stringify(path.slice(0, length)));
    if (position === undefined) continue;
    return length === path.length ? position : { line: position.line, column: position.column };
  }
  return { line: 1, column: 1 };
}
