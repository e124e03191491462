/**
 * Warns of odd values of `curfew.dev/do-not-repair`, which people write on Nodes, NodeClaims and NodePools: one that
 * cannot be read holds without end.
 */
import { readVeto } from '../../functions/repair/explain.ts';
import { quoteCut } from '../../shared/domain/cut-text.ts';
import { isJsonObject, objectIn } from '../../shared/domain/json.ts';
import { DO_NOT_REPAIR_ANNOTATION } from '../../shared/domain/node.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import type { Manifest } from './manifest.ts';
import type { Doubt } from './object-doubts.ts';

const VETO_KINDS = ['Node', 'NodeClaim', 'NodePool'] as const;

const vetoKindOf = (kind: string) => VETO_KINDS.find(each => each === kind);

/** Whether the object says something of its repair that is worth a look. */
export const hasVeto = (manifest: Manifest): boolean =>
  vetoKindOf(manifest.kind) !== undefined && vetoesOf(manifest).length > 0;

export function vetoDoubts(manifest: Manifest): readonly Doubt[] {
  const { metadata } = manifest;
  const kind = vetoKindOf(manifest.kind);
  if (kind === undefined) return [];
  return vetoesOf(manifest).flatMap(({ path, value }): readonly Doubt[] => {
    if (typeof value !== 'string') {
      // Of the others their definition says so.
      const text = JSON.stringify(value);
      const message = `must be text, not ${text}: write ${JSON.stringify(text)}, with the quotes`;
      return kind === 'Node' ? [{ path, message, severity: 'warning' }] : [];
    }
    const veto = readVeto({ kind, name: metadata.name, uid: '', value }, toEpochMs(0));
    const rule = 'holds until it is removed: it must be "true" or an RFC 3339 instant';
    return veto?.invalid === true
      ? [{ path, message: `${rule}, not ${quoteCut(value, 64)}`, severity: 'warning' }]
      : [];
  });
}

/** On the object, and on a NodePool also where its NodeClaims and Nodes have it from. */
function vetoesOf({ kind, metadata, spec }: Manifest) {
  const template = kind === 'NodePool' && isJsonObject(spec) ? objectIn(objectIn(spec, 'template'), 'metadata') : {};
  const places = [
    { path: ['metadata'], object: metadata },
    { path: ['spec', 'template', 'metadata'], object: template },
  ];
  return places.flatMap(({ path, object: { annotations } }) => {
    const value = isJsonObject(annotations) ? annotations[DO_NOT_REPAIR_ANNOTATION] : undefined;
    return value === undefined ? [] : [{ path: [...path, 'annotations', DO_NOT_REPAIR_ANNOTATION], value }];
  });
}
