/**
 * The items of a list out of the bytes of a page, one after the other. Most of a Node is what nobody reads: the names of its images, and what
 * field managers note. So an item is found by how the next one begins, and those lists are cut out before it is parsed, which takes a
 * third of the time and a fraction of the garbage. Where to cut is a guess; only what parses without a remainder is taken.
 */
import { toText } from './read-body.ts';

const ITEMS = '"items":[';
const BETWEEN = '},';
const END_OF_LIST = '}]';
const [OPEN_BRACE] = Buffer.from('{');
/** Below this an item is parsed faster than it is found. */
const LARGE_BYTES = 2000;

export interface ReadItems<Item> {
  readonly items: readonly Item[];
  /** The list without its items. */
  readonly rest: unknown;
}

/**
 * Undefined for a text that is not written as an API server does it, for one that is no list, and where an item is small: parse it as a whole.
 *
 * @param unread names of lists of objects, and of nothing but objects: each may come empty, wherever it stands in an item
 * @param readerOf gets what stands before the items; what it answers is called with each. What they throw is thrown.
 */
export function readItems<Item>(
  bytes: Buffer,
  unread: readonly string[],
  readerOf: (start: string) => (item: unknown) => Item,
): ReadItems<Item> | undefined {
  const first = bytes.indexOf(ITEMS) + ITEMS.length;
  const head = headAt(bytes, first);
  const opening = toText([bytes.subarray(0, first)]);
  // Else these are items of something inside.
  if (head === undefined || parsed(`${opening}]}`) === undefined) return undefined;
  const read = readerOf(opening);
  const between = Buffer.concat([Buffer.from(BETWEEN), head]);
  const items: Item[] = [];
  let start = first;
  for (let end = bytes.indexOf(between, start); end >= 0; end = bytes.indexOf(between, start)) {
    const item = end - start < LARGE_BYTES ? undefined : parsedItem(bytes.subarray(start, end + 1), unread);
    if (item === undefined) return undefined;
    items.push(read(item.value));
    start = end + BETWEEN.length;
  }
  for (let end = bytes.indexOf(END_OF_LIST, start); end >= 0; end = bytes.indexOf(END_OF_LIST, end + 1)) {
    const last = parsedItem(bytes.subarray(start, end + 1), unread);
    if (last === undefined) continue;
    const envelope = parsed(opening + toText([bytes.subarray(end + 1)]));
    return envelope && { items: [...items, read(last.value)], rest: envelope.value };
  }
  return undefined;
}

/** The bytes with which every item of a list begins: its first names, up to the first brace inside. */
function headAt(bytes: Buffer, first: number): Buffer | undefined {
  if (first < ITEMS.length || bytes[first] !== OPEN_BRACE) return undefined;
  const inner = bytes.indexOf('{', first + 1);
  return inner < 0 ? undefined : bytes.subarray(first, inner + 1);
}

function parsedItem(bytes: Buffer, unread: readonly string[]): Parsed | undefined {
  const short = without(bytes, unread);
  return (short === undefined ? undefined : parsed(toText(short))) ?? parsed(toText([bytes]));
}

/** In pieces, with the lists of these names empty as far as they end where they seem to; undefined: it has none. */
function without(bytes: Buffer, unread: readonly string[]): readonly Buffer[] | undefined {
  const cuts = unread
    .flatMap(name => {
      const key = `"${name}":[`;
      const at = bytes.indexOf(`${key}{`);
      const end = at < 0 ? -1 : bytes.indexOf(END_OF_LIST, at);
      return end < 0 ? [] : [{ from: at + key.length, to: end + 1 }];
    })
    .toSorted((a, b) => a.from - b.from);
  if (cuts.length === 0) return undefined;
  let kept = 0;
  const pieces: Buffer[] = [];
  for (const { from, to } of cuts) {
    // One that begins inside of another has gone with it.
    if (from < kept) continue;
    pieces.push(bytes.subarray(kept, from));
    kept = to;
  }
  return [...pieces, bytes.subarray(kept)];
}

interface Parsed {
  readonly value: unknown;
}

function parsed(text: string): Parsed | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
