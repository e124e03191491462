/**
 * What users grant to Curfew beside its own table, on kinds of theirs: the simulated cluster has it for each FinalizerRule of the scenario
 * (`curfew rbac`), for what its own ClusterRoles grant on the kind of the custom drain, and for each CustomResourceDefinition of it whose group the configuration or a template names
 * (`docs/configuration.md`, `docs/node-repair.md`, `docs/terminations.md`).
 */
import {
  PERMISSIONS,
  permissionsOnFinalizerRuleKind,
  type KubernetesGrant,
  type Component,
  type Permissions,
} from '../shared/contract/permissions.ts';
import { isObject, objectAt, textAt } from '../packages/kube-apiserver/src/json.ts';
import { configuredData, customDrainGroup } from './configured-kinds.ts';
import { dig, listOf } from './invariants/reading.ts';
import { resourceOfManifest, resourcesOf, type KnownResource } from './scenario/resource-names.ts';
import type { Manifest, Scenario } from './scenario/scenario.ts';

/** On a FinalizerRule: nobody has granted anything on its kind. */
const NOT_GRANTED = 'sim.curfew.dev/not-granted';

type Table = Readonly<Partial<Record<Component, Permissions>>>;

/**
 * The table with these grants.
 *
 * @param served by the cluster, beside what the scenario's own definitions add
 * @param table rows that replace those of the product
 */
export function withGrantedKinds(scenario: Scenario, served: readonly KnownResource[], table: Table = {}): Table {
  const known = resourcesOf(scenario, { resources: served });
  const ruled = manifestsOf(scenario).filter(isGranted);
  const ruleKinds = ruled.flatMap(rule => resourceOfManifest(kindOfFinalizerRule(rule), known) ?? []);
  const customKinds = customKindsOf(scenario);
  const ofRules = (part: Component): readonly KubernetesGrant[] =>
    ruleKinds.flatMap(kind => permissionsOnFinalizerRuleKind(part, kind));
  const onCustomKinds = (verbs: KubernetesGrant['verbs']): readonly KubernetesGrant[] =>
    customKinds.map(kind => ({ ...kind, verbs }));
  const added = {
    forwarder: [
      ...onCustomKinds(['list', 'watch']),
      ...onBuiltInKind(scenario, 'forwarder', ['list', 'watch']),
      ...ofRules('forwarder'),
    ],
    drain: [
      ...onCustomKinds(['get', 'create', 'delete']),
      ...onBuiltInKind(scenario, 'drain', ['get', 'create', 'delete']),
    ],
    repair: onCustomKinds(['get', 'create', 'patch', 'delete']),
    finalizer: [...onCustomKinds(['get', 'create']), ...ofRules('finalizer')],
  } as const satisfies Partial<Record<Component, readonly KubernetesGrant[]>>;
  const rows = (['forwarder', 'drain', 'repair', 'finalizer'] as const).map(part => {
    const row = table[part] ?? PERMISSIONS[part];
    return [part, { ...row, kubernetes: [...row.kubernetes, ...added[part]] }] as const;
  });
  return { ...table, ...Object.fromEntries(rows) };
}

/** Whether a refusal is about a kind that the scenario has left out on purpose. */
export function isLeftOut({ objects }: Scenario, message: string): boolean {
  const kinds = objects.flatMap(({ manifest }) =>
    manifest.kind === 'FinalizerRule' && !isGranted(manifest) ? [kindOfFinalizerRule(manifest)] : [],
  );
  return kinds.some(({ apiVersion }) => message.includes(`API group "${apiVersion.replace(/\/?[^/]*$/, '')}"`));
}

function manifestsOf({ objects, steps }: Scenario): readonly Manifest[] {
  const applied = steps.flatMap(({ action }) => (action.kind === 'apply' ? [action.manifest] : []));
  return [...objects.map(({ manifest }) => manifest), ...applied];
}

const isGranted = ({ kind, body }: Manifest): boolean =>
  kind === 'FinalizerRule' && !JSON.stringify(body).includes(NOT_GRANTED);

function kindOfFinalizerRule({ body }: Manifest): { readonly apiVersion: string; readonly kind: string } {
  const { group = '', version = '', kind = '' } = objectAt(body, 'spec');
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const prefix = text(group) === '' ? '' : `${text(group)}/`;
  return { apiVersion: `${prefix}${text(version)}`, kind: text(kind) };
}

/** The kinds of custom drains, remediations and hooks: those whose group the configuration or a template names, now or after an edit. */
function customKindsOf(scenario: Scenario): readonly { readonly group: string; readonly resource: string }[] {
  const configured = JSON.stringify(configuredData(scenario));
  return manifestsOf(scenario)
    .flatMap(definedKind)
    .filter(({ group }) => configured.includes(group));
}

function definedKind({ kind, body }: Manifest): readonly { readonly group: string; readonly resource: string }[] {
  const spec = body['spec'];
  if (kind !== 'CustomResourceDefinition' || !isObject(spec)) return [];
  const group = textAt(spec, 'group');
  const resource = textAt(objectAt(spec, 'names'), 'plural');
  return group === undefined || resource === undefined ? [] : [{ group, resource }];
}

/**
 * A kind of Kubernetes itself in place of a custom resource, a Job for example, is granted only by a ClusterRole of the scenario that is bound to the part,
 * with the verbs that this one names; never one of the core group.
 */
function onBuiltInKind(
  scenario: Scenario,
  part: Component,
  verbs: KubernetesGrant['verbs'],
): readonly KubernetesGrant[] {
  const manifests = manifestsOf(scenario);
  const groups = configuredData(scenario).flatMap(data => customDrainGroup(data) ?? []);
  const roles = new Set(
    manifests
      .filter(({ kind, body }) => kind === 'ClusterRoleBinding' && isBoundTo(body, `curfew:${part}`))
      .map(({ body }) => textAt(objectAt(body, 'roleRef'), 'name')),
  );
  const rules = manifests
    .filter(({ kind, body }) => kind === 'ClusterRole' && roles.has(textAt(objectAt(body, 'metadata'), 'name')))
    .flatMap(({ body }) => listOf(body['rules']));
  return rules.flatMap(rule =>
    groups
      .filter(group => listOf(dig(rule, 'apiGroups')).includes(group))
      .flatMap(group =>
        listOf(dig(rule, 'resources')).flatMap(resource =>
          typeof resource === 'string'
            ? [{ group, resource, verbs: verbs.filter(verb => listOf(dig(rule, 'verbs')).includes(verb)) }]
            : [],
        ),
      ),
  );
}

const isBoundTo = (binding: Manifest['body'], name: string): boolean =>
  listOf(binding['subjects']).some(subject => dig(subject, 'name') === name);
