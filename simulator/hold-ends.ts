/**
 * What ends a hold although no audit line says so: its object goes, its author corrects it, or a change of it that was refused is made. Of a
 * run that records its objects (`RunOptions.recordsObjects`).
 */
import { textAt } from '../packages/kube-apiserver/src/json.ts';
import { isJsonObject } from '../shared/domain/json.ts';
import type { JsonObject } from '../shared/domain/kubernetes-object.ts';
import type { TraceEntry } from './trace.ts';

/** `object` as in `Held`. */
export type HoldEnd =
  /** It is gone: nothing of it is held. */
  | { readonly kind: 'gone'; readonly object: string }
  /** Somebody edited it, or it is accepted now. If something is still wrong with it, a new audit line says so. */
  | { readonly kind: 'corrected'; readonly object: string }
  /** This function has changed it. */
  | { readonly kind: 'changed'; readonly object: string; readonly by: string };

/** Whether it ends a hold of the same object. */
export function endsHold(end: HoldEnd, hold: { readonly by: string; readonly reason: string }): boolean {
  switch (end.kind) {
    case 'gone':
      return true;
    case 'corrected':
      return hold.reason.startsWith('Invalid');
    case 'changed':
      return end.by === hold.by && CHANGES_REFUSED.has(hold.reason);
  }
}

const CHANGES_REFUSED: ReadonlySet<string> = new Set(['NodeChangeRefused', 'ChangeRefused']);

/** Reads the entries of one run, in order. */
export function createHoldEnds(): (entry: TraceEntry) => HoldEnd | undefined {
  /** By group and resource. */
  const kinds = new Map<string, string>();
  return ({ kind, group, line }) => {
    if (kind !== 'object' && kind !== 'write' && kind !== 'status') return undefined;
    const { object: whole, change, gone, subresource } = line;
    const type = `${group}/${textAt(line, 'resource') ?? ''}`;
    if (isJsonObject(whole)) {
      kinds.set(type, textAt(whole, 'kind') ?? '');
      return undefined;
    }
    const known = kinds.get(type);
    if (known === undefined) return undefined;
    const namespace = textAt(line, 'namespace');
    const object = `${known} ${namespace === undefined ? '' : `${namespace}/`}${textAt(line, 'name') ?? ''}`;
    if (gone === true) return { kind: 'gone', object };
    if (isJsonObject(change)) return isCorrection(change) ? { kind: 'corrected', object } : undefined;
    if (kind === 'object' || (kind === 'write' && subresource !== undefined)) return undefined;
    return { kind: 'changed', object, by: textAt(line, 'by') ?? '' };
  };
}

/** A NodePool is read with its annotations and labels, too. */
function isCorrection({ spec, data, status }: JsonObject): boolean {
  if (spec !== undefined || data !== undefined) return true;
  const conditions = isJsonObject(status) ? status['conditions'] : undefined;
  return (
    Array.isArray(conditions) &&
    conditions.some(each => isJsonObject(each) && each['type'] === 'Accepted' && each['status'] === 'True')
  );
}
