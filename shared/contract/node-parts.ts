/** Which function the parts of a Node concern, as the forwarder projects them (`forwarder/project.ts`). */
import type { FunctionName } from './names.ts';

/**
 * Parts that concern one function alone; the others do not read a Node for them. They change when a node becomes unhealthy, is
 * drained and is terminated. A drain under way reads its Node whatever changes.
 */
const CONCERNS_ONLY: Readonly<Record<string, FunctionName>> = {
  bootID: 'repair',
  conditions: 'repair',
  drain: 'drain',
  finalizers: 'finalizer',
  protection: 'grace-period',
  taints: 'drain',
  unschedulable: 'drain',
};

/** Parts of a Node that concern other functions alone. */
export function nodePartsOfOthers(owner: FunctionName): ReadonlySet<string> {
  const others = Object.entries(CONCERNS_ONLY).filter(([, name]) => name !== owner);
  return new Set(others.map(([part]) => part));
}
