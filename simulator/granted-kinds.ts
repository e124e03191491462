/**
 * What the owners of custom resources grant to Curfew beside its own table: of each CustomResourceDefinition in a scenario the forwarder
 * may list and watch the objects, and the drain function may make and remove them, as `docs/configuration.md` asks for.
 */
import { PERMISSIONS, type KubernetesGrant, type Part, type Permissions } from '../shared/contract/permissions.ts';
import { isObject } from '../packages/kube-apiserver/src/json.ts';
import type { Manifest, Scenario } from './scenario/scenario.ts';

export function grantedPermissions({ objects, steps }: Scenario): Readonly<Partial<Record<Part, Permissions>>> {
  const applied = steps.flatMap(({ action }) => (action.kind === 'apply' ? [action.manifest] : []));
  const kinds = [...objects.map(({ manifest }) => manifest), ...applied].flatMap(kindOf);
  if (kinds.length === 0) return {};
  const granted = (part: Part, verbs: KubernetesGrant['verbs']): Permissions => ({
    ...PERMISSIONS[part],
    kubernetes: [...PERMISSIONS[part].kubernetes, ...kinds.map(kind => ({ ...kind, verbs }))],
  });
  return { forwarder: granted('forwarder', ['list', 'watch']), drain: granted('drain', ['get', 'create', 'delete']) };
}

function kindOf({ kind, body }: Manifest): readonly { readonly group: string; readonly resource: string }[] {
  const spec = body['spec'];
  if (kind !== 'CustomResourceDefinition' || !isObject(spec)) return [];
  const { group, names } = spec;
  const plural = isObject(names) ? names['plural'] : undefined;
  return typeof group === 'string' && typeof plural === 'string' ? [{ group, resource: plural }] : [];
}
