/** Uids and generated names out of an injected source of randomness: the same source gives the same objects. */

/** The alphabet of generated names in Kubernetes: no vowels, no digits that look like letters. */
const SAFE_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const MAX_NAME_LENGTH = 63;

/** A constant sequence in [0, 1) for servers that were not given a source (mulberry32). */
export function constantRandom(): () => number {
  let state = 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A version 4 UUID. */
export function newUid(random: () => number): string {
  const word = () => Math.floor(random() * 2 ** 32);
  const [a, b, c, d] = [word(), word(), word(), word()];
  const second = hex(((b & 0xffff0fff) | 0x4000) >>> 0);
  const third = hex(((c & 0x3fffffff) | 0x80000000) >>> 0);
  return `${hex(a)}-${second.slice(0, 4)}-${second.slice(4)}-${third.slice(0, 4)}-${third.slice(4)}${hex(d)}`;
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}

/** `generateName` with five letters after it; a prefix that is too long is cut. */
export function generateName(prefix: string, random: () => number): string {
  let suffix = '';
  for (let index = 0; index < SUFFIX_LENGTH; index += 1) {
    suffix += SAFE_LETTERS.charAt(Math.floor(random() * SAFE_LETTERS.length));
  }
  return prefix.slice(0, MAX_NAME_LENGTH - SUFFIX_LENGTH) + suffix;
}
