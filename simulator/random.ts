/**
 * The simulation's only source of chance: xoshiro128** (Blackman and Vigna), seeded by name. A stream depends on the seed and on
 * its own name alone, never on how much another stream was used, so that a new kind of fault does not reshuffle the others.
 */
export interface Random {
  /** In [0, 1), 32 bits of it. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  /** True with probability `probability`. */
  chance(probability: number): boolean;
  /** One of `items`, each as likely. Throws a RangeError when there is none. */
  pick<T>(items: readonly T[]): T;
  /** The stream of that name under this one. */
  stream(name: string): Random;
}

/** The root stream of a seed. */
export function createRandom(seed: number): Random {
  return streamOf(String(seed));
}

function streamOf(path: string): Random {
  const state = initialState(path);
  const next = (): number => nextWord(state) / 2 ** 32;
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    chance: probability => next() < probability,
    pick(items) {
      const item = items[integer(0, items.length - 1)];
      if (item === undefined) throw new RangeError('nothing to pick from');
      return item;
    },
    stream: name => streamOf(`${path}/${name}`),
  };
}

/** FNV-1a over the name, spread over four words by splitmix32. */
function initialState(path: string): Uint32Array {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(path)) hash = Math.imul(hash ^ byte, 0x01000193);
  const state = new Uint32Array(4);
  for (let index = 0; index < state.length; index++) {
    hash = (hash + 0x9e3779b9) | 0;
    let word = hash ^ (hash >>> 16);
    word = Math.imul(word, 0x21f0aaad);
    word ^= word >>> 15;
    word = Math.imul(word, 0x735a2d97);
    state[index] = word ^ (word >>> 15);
  }
  return state;
}

const rotateLeft = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

function nextWord(state: Uint32Array): number {
  const [s0 = 0, s1 = 0, s2 = 0, s3 = 0] = state;
  const result = Math.imul(rotateLeft(Math.imul(s1, 5), 7), 9) >>> 0;
  state[0] = s0 ^ s3 ^ s1;
  state[1] = s1 ^ s2 ^ s0;
  state[2] = s2 ^ s0 ^ (s1 << 9);
  state[3] = rotateLeft(s3 ^ s1, 11);
  return result;
}
