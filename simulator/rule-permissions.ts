/** What a user grants on the kinds of FinalizerRules (`curfew rbac`): the simulated cluster has it for each rule of the scenario. */
import { PERMISSIONS, permissionsOnRuleKind, type Part, type Permissions } from '../shared/contract/permissions.ts';
import { resourceOfManifest, resourcesOf, type KnownResource } from './scenario/resource-names.ts';
import type { Manifest, Scenario } from './scenario/scenario.ts';

/** On a FinalizerRule: nobody has granted anything on its kind. */
const NOT_GRANTED = 'sim.curfew.dev/not-granted';

type Table = Readonly<Partial<Record<Part, Permissions>>>;

/** @param served by the cluster, beside what the scenario's own definitions add */
export function withRuleKinds(scenario: Scenario, served: readonly KnownResource[], table: Table = {}): Table {
  const known = resourcesOf(scenario, { resources: served });
  const applied = scenario.steps.flatMap(({ action }) => (action.kind === 'apply' ? [action.manifest] : []));
  const rules = [...scenario.objects.map(({ manifest }) => manifest), ...applied].filter(isGranted);
  const resources = rules.flatMap(rule => resourceOfManifest(kindOf(rule), known) ?? []);
  if (resources.length === 0) return table;
  const added = (['finalizer', 'forwarder'] as const).map(part => {
    const row = table[part] ?? PERMISSIONS[part];
    const kubernetes = [...row.kubernetes, ...resources.flatMap(each => permissionsOnRuleKind(part, each))];
    return [part, { ...row, kubernetes }] as const;
  });
  return { ...table, ...Object.fromEntries(added) };
}

/** Whether a refusal is about a kind that the scenario has left out on purpose. */
export function isLeftOut(scenario: Scenario, message: string): boolean {
  const kinds = scenario.objects.flatMap(({ manifest }) =>
    manifest.kind === 'FinalizerRule' && !isGranted(manifest) ? [kindOf(manifest)] : [],
  );
  return kinds.some(({ apiVersion }) => message.includes(`API group "${apiVersion.replace(/\/?[^/]*$/, '')}"`));
}

const isGranted = ({ kind, body }: Manifest): boolean =>
  kind === 'FinalizerRule' && !JSON.stringify(body).includes(NOT_GRANTED);

function kindOf({ body }: Manifest): { readonly apiVersion: string; readonly kind: string } {
  const spec: unknown = body['spec'];
  const { group = '', version = '', kind = '' } = (spec ?? {}) as Readonly<Record<string, unknown>>;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const prefix = text(group) === '' ? '' : `${text(group)}/`;
  return { apiVersion: `${prefix}${text(version)}`, kind: text(kind) };
}
