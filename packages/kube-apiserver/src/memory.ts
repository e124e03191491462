/** A memory of answers by key. When there are more than it may hold, all are forgotten together. */
export interface Memory<Value> {
  /** The answer, made where it is not known. What `make` throws is not remembered. */
  get(key: string, make: () => Value): Value;
  clear(): void;
}

export function createMemory<Value>(max: number): Memory<Value> {
  const known = new Map<string, Value>();
  return {
    get(key, make) {
      const before = known.get(key);
      if (before !== undefined) return before;
      const made = make();
      if (known.size >= max) known.clear();
      known.set(key, made);
      return made;
    },
    clear: () => known.clear(),
  };
}
