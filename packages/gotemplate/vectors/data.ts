/** The data convention of vectors files: numbers are int64, {"$float": n} a float64, {"$int": "digits"} a large int64. */
import { Float, toGo, type Value } from '../src/index.ts';
import { TEMPLATE_DATA } from '../src/nvsentinel.ts';

/** The Go value of a vector's data. */
export function vectorData(data: unknown, isStruct: boolean): Value | undefined {
  return isStruct ? toGo(data, TEMPLATE_DATA) : toGo(marked(data));
}

function marked(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(marked);
  if (typeof data === 'number') return BigInt(data);
  if (typeof data !== 'object' || data === null) return data;
  const entries = Object.entries(data);
  const [key, value] = entries[0] ?? [];
  if (entries.length === 1 && key === '$float') return new Float(value as number);
  if (entries.length === 1 && key === '$int') return BigInt(value as string);
  return Object.fromEntries(entries.map(([name, each]) => [name, marked(each)]));
}
