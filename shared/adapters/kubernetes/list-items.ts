/**
 * The items of a list, one at a time, out of a JSON text that is still arriving. A page of 500 nodes is 10 MB of text and several
 * times that as objects; a reader that keeps little of each object never holds more than one of them.
 */

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
/** What stands before the array, at the end of what came before it. */
const ITEMS_KEY = /(?:^|[^\\])"items"\s*:\s*$/;
const TAIL_CHARS = 64;

export interface ListItems {
  /** Takes the next bytes; calls `onItem` with the JSON text of each item that they complete. */
  push(chunk: Uint8Array, onItem: (text: string) => void): void;
  /** The list so far as JSON text, without the items that were handed out: `kind`, `metadata`, and whatever else stands in it. */
  rest(): string;
}

/**
 * Splits at brackets and quotes only; whether the text is JSON shows when an item or the rest is parsed. Members may come in any
 * order: built-in kinds have `metadata` before `items`, custom resources after it.
 */
export function createListItems(): ListItems {
  /** Pieces of the item that is being read, and of everything else. */
  let item: Uint8Array[] = [];
  const rest: Uint8Array[] = [];
  let depth = 0;
  let inString = false;
  let escaped = false;
  let inItems = false;
  let inItem = false;

  /** A copy: a view would hold the whole chunk. */
  const keep = (bytes: Uint8Array): void => {
    if (bytes.length > 0) rest.push(Uint8Array.from(bytes));
  };
  const restText = (): string => Buffer.concat(rest).toString('utf8');

  return {
    push(chunk, onItem) {
      /** First byte that is in no piece yet. */
      let start = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at] ?? 0;
        if (inString) {
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE) inString = false;
          continue;
        }
        switch (byte) {
          case QUOTE:
            inString = true;
            break;
          case OPEN_BRACE:
            if (inItems && depth === 2) {
              keep(chunk.subarray(start, at));
              start = at;
              inItem = true;
            }
            depth += 1;
            break;
          case OPEN_BRACKET:
            depth += 1;
            if (depth === 2 && !inItems) {
              keep(chunk.subarray(start, at));
              start = at;
              inItems = ITEMS_KEY.test(restText().slice(-TAIL_CHARS));
            }
            break;
          case COMMA:
            // Between items; without it, the items that are handed out leave an empty array.
            if (inItems && depth === 2) {
              keep(chunk.subarray(start, at));
              start = at + 1;
            }
            break;
          case CLOSE_BRACE:
          case CLOSE_BRACKET:
            depth -= 1;
            if (inItem && depth === 2) {
              item.push(chunk.subarray(start, at + 1));
              start = at + 1;
              inItem = false;
              const text = Buffer.concat(item).toString('utf8');
              item = [];
              onItem(text);
            } else if (inItems && depth === 1) inItems = false;
        }
      }
      if (inItem) item.push(chunk.subarray(start));
      else keep(chunk.subarray(start));
    },
    rest: restText,
  };
}
