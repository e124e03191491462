/**
 * What the owner of a custom drain or remediation grants to Curfew beside its own table: of each CustomResourceDefinition in a scenario
 * whose kind the configuration or a template names, the forwarder may list and watch the objects, and the drain and repair functions may
 * make and remove them, as `docs/configuration.md` and `docs/node-repair.md` ask for.
 */
import { PERMISSIONS, type KubernetesGrant, type Part, type Permissions } from '../shared/contract/permissions.ts';
import { isObject, objectAt, textAt } from '../packages/kube-apiserver/src/json.ts';
import type { Manifest, Scenario } from './scenario/scenario.ts';

export function grantedPermissions({
  objects,
  steps,
  config = '',
  templates,
}: Scenario): Readonly<Partial<Record<Part, Permissions>>> {
  const applied = steps.flatMap(({ action }) => (action.kind === 'apply' ? [action.manifest] : []));
  const edits = steps.flatMap(({ action }) => (action.kind === 'patch' ? [JSON.stringify(action)] : []));
  const configured = [config, ...Object.values(templates), ...edits].join('\n');
  const kinds = [...objects.map(({ manifest }) => manifest), ...applied]
    .flatMap(kindOf)
    .filter(({ group }) => configured.includes(group));
  if (kinds.length === 0) return {};
  const granted = (part: Part, verbs: KubernetesGrant['verbs']): Permissions => ({
    ...PERMISSIONS[part],
    kubernetes: [...PERMISSIONS[part].kubernetes, ...kinds.map(kind => ({ ...kind, verbs }))],
  });
  return {
    forwarder: granted('forwarder', ['list', 'watch']),
    drain: granted('drain', ['get', 'create', 'delete']),
    repair: granted('repair', ['get', 'create', 'patch', 'delete']),
  };
}

function kindOf({ kind, body }: Manifest): readonly { readonly group: string; readonly resource: string }[] {
  const spec = body['spec'];
  if (kind !== 'CustomResourceDefinition' || !isObject(spec)) return [];
  const group = textAt(spec, 'group');
  const resource = textAt(objectAt(spec, 'names'), 'plural');
  return group === undefined || resource === undefined ? [] : [{ group, resource }];
}
