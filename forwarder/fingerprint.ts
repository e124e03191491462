/**
 * The memory of what an object looked like: one text of fixed width per part, a hash unless the part is short, in one string. An object
 * costs about a hundred bytes instead of the kilobytes of its projection, and a comparison still says which parts changed.
 */
import { hash } from 'node:crypto';
import { canonicalText } from './fields.ts';
import type { ObjectParts } from './projection.ts';

/** Characters per part: 60 bits in base64url, so that a change missed by a collision is not to be expected. */
const WIDTH = 10;
const ABSENT = '-'.repeat(WIDTH);

export type Fingerprint = string;

/** The fingerprint of an object's parts, in the order of their names. */
export function fingerprintOf(parts: ObjectParts): Fingerprint {
  return partNames(parts)
    .map(name => markOf(parts[name]))
    .join('');
}

/** Names of the parts that the object has, sorted: what an object that was not there before brings. */
export function presentParts(parts: ObjectParts): string[] {
  return partNames(parts).filter(name => parts[name] !== undefined);
}

/** Names of the parts in which two fingerprints of the same kind differ, sorted. */
export function changedParts(parts: ObjectParts, before: Fingerprint, after: Fingerprint): string[] {
  return partNames(parts).filter(
    (_name, index) => !before.startsWith(after.slice(index * WIDTH, (index + 1) * WIDTH), index * WIDTH),
  );
}

const partNames = (parts: ObjectParts): string[] => Object.keys(parts).toSorted();

/** A short text stands for itself: most parts of most pods are one. Its length at the end, in a character that no hash has, tells it from others. */
function markOf(value: unknown): string {
  if (value === undefined) return ABSENT;
  if (typeof value === 'string' && value.length < WIDTH) {
    return value.padEnd(WIDTH - 1) + String.fromCharCode(LENGTHS_FROM + value.length);
  }
  return hash('sha1', canonicalText(value), 'base64url').slice(0, WIDTH);
}
const LENGTHS_FROM = 0x80;
