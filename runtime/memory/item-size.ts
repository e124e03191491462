/** How large DynamoDB finds an item: names and texts in bytes of UTF-8, numbers by their digits, lists and maps with what they cost. */
import type { JsonValue } from '../../shared/domain/kubernetes-object.ts';

/** 400 KiB; a put of more is refused. */
export const MAX_ITEM_BYTES = 409_600;

/** Of a list or map, and of each of its elements. */
const OVERHEAD = 3;
const PER_ELEMENT = 1;

/** In bytes, by AWS's rules ("DynamoDB item sizes and formats"). What is undefined is no attribute. */
export function itemSize(item: Readonly<Record<string, JsonValue | undefined>>): number {
  let size = 0;
  for (const [name, value] of Object.entries(item)) {
    if (value !== undefined) size += Buffer.byteLength(name) + valueSize(value);
  }
  return size;
}

function valueSize(value: JsonValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberSize(value);
  if (typeof value === 'boolean' || value === null) return 1;
  if (isList(value)) return OVERHEAD + value.reduce((size: number, each) => size + PER_ELEMENT + valueSize(each), 0);
  const count = Object.values(value).filter(each => each !== undefined).length;
  return OVERHEAD + count * PER_ELEMENT + itemSize(value);
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/** A byte for each two significant digits, which begin at an even power of ten, one for the exponent, and one for a minus. */
function numberSize(value: number): number {
  if (value === 0) return 1;
  const [mantissa = '', exponent = '0'] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '').length;
  const isSplit = digits % 2 === 0 && Number(exponent) % 2 === 0;
  return 1 + Math.ceil(digits / 2) + (isSplit ? 1 : 0) + (value < 0 ? 1 : 0);
}
