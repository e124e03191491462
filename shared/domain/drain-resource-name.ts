/** The name of the custom resource of a drain: `drain-<node-name>-<health-event-id>`. */

const MAX_LENGTH = 253;
const HASH_LENGTH = 12;

/** A name that is no object name as it stands is made one, with a hash that keeps it apart from all others. */
export function drainResourceName(nodeName: string, eventId: string): string {
  const name = `drain-${nodeName}-${eventId}`;
  if (name.length <= MAX_LENGTH && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)) {
    return name;
  }
  const stem = name
    .toLowerCase()
    .replaceAll(/[^-a-z0-9.]/g, '-')
    .slice(0, MAX_LENGTH - HASH_LENGTH - 1)
    .replaceAll(/-*\.[-.]*/g, '.')
    .replace(/[-.]+$/, '');
  return `${stem}-${hashOf(name)}`;
}

/** FNV-1a, 64 bits in two halves of different seeds; not for secrets. */
function hashOf(text: string): string {
  const half = (seed: number): string => {
    let hash = seed;
    for (let index = 0; index < text.length; index++) {
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    }
    return (hash >>> 0).toString(16).padStart(8, '0');
  };
  return (half(0x811c9dc5) + half(0x9e3779b9)).slice(0, HASH_LENGTH);
}
