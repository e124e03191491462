/**
 * Entries in order of time, then key: a sorted list in pieces, so that with a million entries a change moves some hundred of them
 * and a query reads what it answers.
 */

export interface DueEntry {
  /** Epoch milliseconds. */
  readonly time: number;
  /** Tells entries of one time apart; with `time` it identifies the entry. */
  readonly key: string;
}

export interface DueOrder<Entry extends DueEntry> {
  /** Adds the entry, in place of the one with the same time and key if there is one. */
  add(entry: Entry): void;
  /** Removes the entry with this time and key, if there is one. */
  remove(position: DueEntry): void;
  /** Entries after this position, which need not be there any more; all without one. Do not change the order while you read. */
  after(position: DueEntry | undefined): Iterable<Entry>;
}

const PIECE_LENGTH_MAX = 512;

/** `remove` of what is not there does nothing; `add` of what is there replaces it. */
export function createDueOrder<Entry extends DueEntry>(): DueOrder<Entry> {
  /** None is empty; all entries of a piece stand before those of the next. */
  const pieces: Entry[][] = [];

  /** The first piece whose last entry is at or after `position`. */
  const pieceIndex = (position: DueEntry): number =>
    firstIndex(pieces, piece => {
      const last = piece.at(-1);
      return last !== undefined && compare(last, position) >= 0;
    });

  return {
    add(entry) {
      const index = Math.min(pieceIndex(entry), Math.max(0, pieces.length - 1));
      const piece = pieces[index];
      if (piece === undefined) {
        pieces.push([entry]);
        return;
      }
      const place = firstIndex(piece, other => compare(other, entry) >= 0);
      const there = piece[place];
      piece.splice(place, there !== undefined && compare(there, entry) === 0 ? 1 : 0, entry);
      if (piece.length > PIECE_LENGTH_MAX) pieces.splice(index + 1, 0, piece.splice(PIECE_LENGTH_MAX / 2));
    },
    remove(position) {
      const index = pieceIndex(position);
      const piece = pieces[index];
      if (piece === undefined) return;
      const place = firstIndex(piece, other => compare(other, position) >= 0);
      const there = piece[place];
      if (there === undefined || compare(there, position) !== 0) return;
      piece.splice(place, 1);
      if (piece.length === 0) pieces.splice(index, 1);
    },
    *after(position) {
      const start = position === undefined ? 0 : pieceIndex(position);
      for (let index = start; index < pieces.length; index += 1) {
        for (const entry of pieces[index] ?? []) {
          if (position === undefined || compare(entry, position) > 0) yield entry;
        }
      }
    },
  };
}

function compare(a: DueEntry, b: DueEntry): number {
  if (a.time !== b.time) return a.time - b.time;
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** Index of the first item that passes, where all items after one that passes pass as well; the length when none does. */
function firstIndex<Item>(items: readonly Item[], passes: (item: Item) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && passes(item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
