/** Which hook a change of Curfew calls: by an invocation, or by a custom resource that is made for it. */
import type { LineOf } from '../trace/lines.ts';
import { textAt } from './objects.ts';

/** On a custom resource that is made for a hook: `UID/NAME`. */
const HOOK_ANNOTATION = 'curfew.dev/termination-hook';

export interface CalledHook {
  readonly name: string;
  /** UID of the NodeClaim or Node that is being terminated, where the call says it. */
  readonly uid?: string;
}

/** undefined: it calls none. */
export function hookCalledBy({ verb, resource, name, body }: LineOf<'write'>): CalledHook | undefined {
  if (resource === 'hooks') return { name };
  const [uid, hook] = textAt(body, 'metadata', 'annotations', HOOK_ANNOTATION)?.split('/') ?? [];
  return verb === 'create' && uid !== undefined && hook !== undefined ? { name: hook, uid } : undefined;
}
