/** On which line of a TOML text each key stands. smol-toml does not say; the text must be one that it accepted. */

/** Parts that a dotted key may have; the configuration needs three. More would only make readers that recurse overflow. */
export const MAX_KEY_PARTS = 16;

interface Place {
  /** From 1. */
  readonly line: number;
  readonly children: Map<string | number, Place>;
  /** Elements of an array (of tables) so far. */
  count: number;
}

export interface TomlPlaces {
  /** The line of `path`, or of the nearest part above it that is in the text. From 1. */
  readonly lineOf: (path: readonly PropertyKey[]) => number;
  /** A key with more than `MAX_KEY_PARTS` parts; what lies below it has no place. */
  readonly tooDeep: { readonly line: number; readonly parts: number } | undefined;
}

/** Finds the place of every key. Never throws for a text that is valid TOML. */
export function tomlPlaces(text: string): TomlPlaces {
  const scanner = new Scanner(text);
  const root = newPlace(1);
  let table = root;
  for (scanner.skipBlank(); !scanner.atEnd; scanner.skipBlank()) {
    if (scanner.peek() === '[') table = scanner.header(root);
    else scanner.pair(table);
  }
  return { lineOf: path => lineOf(root, path), tooDeep: scanner.tooDeep };
}

function lineOf(root: Place, path: readonly PropertyKey[]): number {
  let place = root;
  for (const key of path) {
    const child = typeof key === 'symbol' ? undefined : place.children.get(key);
    if (child === undefined) break;
    place = child;
  }
  return place.line;
}

const newPlace = (line: number): Place => ({ line, children: new Map(), count: 0 });

class Scanner {
  tooDeep: { line: number; parts: number } | undefined;
  readonly #text: string;
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith('\uFEFF')) this.#at = 1;
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  peek(): string {
    return this.#text[this.#at] ?? '';
  }

  /** Spaces, line ends and comments. */
  skipBlank(): void {
    for (; !this.atEnd; this.#advance(1)) {
      if (this.peek() === '#') this.#advance(this.#lengthUntil('\n'));
      if (!/\s/.test(this.peek())) return;
    }
  }

  /** `[a.b]` or `[[a.b]]`: the table that the pairs after it belong to. */
  header(root: Place): Place {
    const isArray = this.#text.startsWith('[[', this.#at);
    this.#advance(isArray ? 2 : 1);
    const line = this.#line;
    const table = this.#descend(root, this.#key());
    this.#advance(this.#lengthUntil(']') + (isArray ? 2 : 1));
    if (!isArray) return table;
    const element = newPlace(line);
    table.children.set(table.count++, element);
    return element;
  }

  /** `key = value` in a table. */
  pair(table: Place): void {
    const place = this.#descend(table, this.#key());
    this.#advance(this.#lengthUntil('=') + 1);
    this.#value(place);
  }

  #value(place: Place): void {
    this.skipBlank();
    const opening = this.peek();
    if (opening === '[' || opening === '{') {
      const closing = opening === '[' ? ']' : '}';
      this.#advance(1);
      for (this.#skipSeparators(); this.peek() !== closing && !this.atEnd; this.#skipSeparators()) {
        if (opening === '{') this.pair(place);
        else {
          const element = newPlace(this.#line);
          place.children.set(place.count++, element);
          this.#value(element);
        }
      }
      this.#advance(1);
    } else if (opening === '"' || opening === "'") this.#string();
    else this.#advance(Math.max(1, this.#lengthUntil(',]}#\n')));
  }

  #skipSeparators(): void {
    for (this.skipBlank(); this.peek() === ','; this.skipBlank()) this.#advance(1);
  }

  /** A dotted key; ends before `=` or `]`. */
  #key(): readonly string[] {
    const parts: string[] = [];
    do {
      if (parts.length > 0) this.#advance(1);
      this.#skipSpaces();
      const quote = this.peek();
      if (quote === '"' || quote === "'") parts.push(unquoted(this.#string()));
      else parts.push(this.#advance(this.#lengthUntil(' \t.=]\n')));
      this.#skipSpaces();
    } while (this.peek() === '.');
    return parts;
  }

  /** The place of a dotted key under `from`, made where it is new. An array of tables stands for its last element. */
  #descend(from: Place, parts: readonly string[]): Place {
    if (parts.length > MAX_KEY_PARTS) {
      this.tooDeep ??= { line: this.#line, parts: parts.length };
      return newPlace(this.#line);
    }
    let place = from;
    for (const part of parts) {
      const table = place.children.get(place.count - 1) ?? place;
      let child = table.children.get(part);
      if (child === undefined) table.children.set(part, (child = newPlace(this.#line)));
      place = child;
    }
    return place;
  }

  /** A string of any of the four forms, with its quotes. */
  #string(): string {
    const quote = this.peek();
    const fence = this.#text.startsWith(quote.repeat(3), this.#at) ? quote.repeat(3) : quote;
    let end = this.#at + fence.length;
    while (end < this.#text.length && !this.#text.startsWith(fence, end)) {
      end += quote === '"' && this.#text[end] === '\\' ? 2 : 1;
    }
    end += fence.length;
    // Up to two quotes more belong to the text of a string in three.
    while (fence.length === 3 && this.#text[end] === quote) end++;
    return this.#advance(end - this.#at);
  }

  #skipSpaces(): void {
    while (this.peek() === ' ' || this.peek() === '\t') this.#advance(1);
  }

  /** How many characters stand before the first of `stops`. */
  #lengthUntil(stops: string): number {
    let end = this.#at;
    while (end < this.#text.length && !stops.includes(this.#text[end] ?? '')) end++;
    return end - this.#at;
  }

  #advance(length: number): string {
    const passed = this.#text.slice(this.#at, this.#at + length);
    for (const character of passed) if (character === '\n') this.#line++;
    this.#at += length;
    return passed;
  }
}

/** Escapes beyond those of JSON stay as they are: such a key is unknown anyway. */
function unquoted(quoted: string): string {
  if (quoted.startsWith("'")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}
