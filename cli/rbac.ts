/** `curfew rbac finalizerrules|hooks [FILES...]`: prints what kinds of the user's must be granted, for `kubectl apply -f -`. */
import { kindManifests, type KindUse } from '../deploy/custom-kind-roles.ts';
import { kindOfTemplate } from '../forwarder/wanted-templates.ts';
import { CONFIG_MAP } from '../shared/contract/names.ts';
import { SUBDOMAIN } from '../shared/contract/drain-fields.ts';
import { parseFinalizerRule } from '../shared/contract/finalizer-rule-schema.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import { parseTerminationBlock } from '../shared/contract/termination-schema.ts';
import {
  apiVersionOf,
  type GroupVersionKind,
  type KubernetesObject,
  type ResourceType,
} from '../shared/domain/kubernetes-object.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';
import type { CommandOutput } from './command-output.ts';
import { reportFailure } from './failure.ts';
import { onKubeconfig } from './on-kubeconfig.ts';
import { warningsOn } from './rbac/sensitive-kinds.ts';
import { readObjects } from './read-objects.ts';
import { isJsonObject } from '../shared/domain/json.ts';
import { objectOf, objectsOf } from '../shared/ports/read-answer.ts';

export interface RbacOptions {
  /** Default without files: `$KUBECONFIG`, else `~/.kube/config`. With files: asked for kinds that they do not define. */
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** undefined: nobody serves the kind. */
type Resolve = (kind: GroupVersionKind) => Promise<ResourceType | undefined>;

/** A kind that something names, or why it cannot be said which. */
type NamedKind =
  | { readonly ok: true; readonly who: string; readonly kind: GroupVersionKind }
  | { readonly ok: false; readonly who: string; readonly message: string };

const NAMED_KINDS: Readonly<Record<KindUse, (objects: readonly KubernetesObject[]) => readonly NamedKind[]>> = {
  finalizerrules: kindsOfFinalizerRules,
  hooks: kindsOfHooks,
};
const NOTHING: Readonly<Record<KindUse, string>> = {
  finalizerrules: 'There is no FinalizerRule: nothing need be granted.\n',
  hooks: 'No hook of a NodeLifecyclePolicy is a custom resource: nothing need be granted.\n',
};

/**
 * Prints one ClusterRole with its binding for the forwarder and one for the finalizer function, the same for the same kinds. Exit code
 * 0: printed. 1: a rule, policy or template is not valid, or its kind is not known; nothing is printed. 2: a file or the cluster cannot
 * be read.
 */
export async function rbacCommand(
  use: KindUse,
  files: readonly string[],
  options: RbacOptions,
  output: CommandOutput,
): Promise<number> {
  try {
    const onCluster = options.kubeconfig !== undefined || options.context !== undefined;
    const objects = await readObjects(files);
    const defined: Resolve = async kind => definitionOf(kind, objects);
    const result =
      files.length > 0 && !onCluster
        ? await resolved(NAMED_KINDS[use](objects), defined)
        : await onKubeconfig(options, async ({ kubernetes }) => {
            const holders = files.length > 0 ? objects : await holdersOf(use, kubernetes);
            return resolved(
              NAMED_KINDS[use](holders),
              async kind => (await defined(kind)) ?? (await kubernetes.resolve(kind)),
            );
          });
    if (result.faults.length > 0) {
      output.error(result.faults.map(fault => `${fault}\n`).join(''));
      return 1;
    }
    if (result.types.length === 0) output.error(NOTHING[use]);
    else {
      output.error(
        warningsOn(use, result.types)
          .map(line => `${line}\n`)
          .join(''),
      );
      output.out(kindManifests(use, result.types));
    }
    return 0;
  } catch (error) {
    return reportFailure(error, output);
  }
}

/** Lists the objects of the cluster that name kinds. The items of a list need not name their own kind. */
async function holdersOf(
  use: KindUse,
  kubernetes: Pick<KubernetesApi, 'get' | 'list'>,
): Promise<readonly KubernetesObject[]> {
  const kind = use === 'hooks' ? 'NodeLifecyclePolicy' : 'FinalizerRule';
  const items = objectsOf(await kubernetes.list(RESOURCES[kind]), { ifNotServed: 'empty' }).map(item => ({
    ...item,
    kind,
  }));
  if (use === 'finalizerrules') return items;
  const configMap = objectOf(await kubernetes.get({ type: RESOURCES.ConfigMap, ...CONFIG_MAP }), {
    ifNotServed: 'throw',
  });
  return configMap === undefined ? items : [...items, { ...configMap, kind: 'ConfigMap' }];
}

function kindsOfFinalizerRules(objects: readonly KubernetesObject[]): readonly NamedKind[] {
  return objects
    .filter(({ kind }) => kind === 'FinalizerRule')
    .map(({ metadata, spec }): NamedKind => {
      const who = `FinalizerRule ${metadata.name}`;
      const rule = parseFinalizerRule(spec);
      return rule.ok ? { ok: true, who, kind: rule.value } : { ok: false, who, message: rule.message };
    });
}

/** A policy names a key of the ConfigMap, and the template there names its kind. */
function kindsOfHooks(objects: readonly KubernetesObject[]): readonly NamedKind[] {
  const isConfiguration = ({ kind, metadata }: KubernetesObject): boolean =>
    kind === 'ConfigMap' && metadata.namespace === CONFIG_MAP.namespace && metadata.name === CONFIG_MAP.name;
  const data = objects.find(isConfiguration)?.['data'];
  return objects.flatMap(({ kind, metadata, spec }): readonly NamedKind[] => {
    if (kind !== 'NodeLifecyclePolicy' || spec?.['termination'] === undefined) return [];
    const block = parseTerminationBlock(spec['termination'], 'spec.termination');
    const policy = `NodeLifecyclePolicy ${metadata.name}`;
    if (!block.ok) return [{ ok: false, who: policy, message: block.message }];
    return block.value.hooks.flatMap(({ name, target }): readonly NamedKind[] => {
      if (target.kind !== 'customResource') return [];
      const who = `${policy}, hook ${name}`;
      const template = fieldOf(data, target.template);
      const where = `key ${target.template} of ConfigMap ${CONFIG_MAP.namespace}/${CONFIG_MAP.name}`;
      if (typeof template !== 'string') return [{ ok: false, who, message: `there is no ${where}` }];
      const named = kindOfTemplate(template);
      if (named !== undefined) return [{ ok: true, who, kind: named }];
      return [{ ok: false, who, message: `${where} does not name apiVersion and kind in so many words` }];
    });
  });
}

/** The resources of these kinds, each once, in order of their names. */
async function resolved(
  wanted: readonly NamedKind[],
  resolve: Resolve,
): Promise<{ readonly types: readonly ResourceType[]; readonly faults: readonly string[] }> {
  const types = new Map<string, ResourceType>();
  const faults: string[] = [];
  for (const each of wanted) {
    if (!each.ok) {
      faults.push(`${each.who}: ${each.message}`);
      continue;
    }
    const type = await resolve(each.kind);
    if (type !== undefined) types.set(`${type.resource}.${type.group}`, type);
    else {
      faults.push(
        `${each.who}: what serves ${each.kind.kind} in ${apiVersionOf(each.kind)} is not known: give its CustomResourceDefinition among the files, or a cluster that serves it (--kubeconfig)`,
      );
    }
  }
  return { types: [...types].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, type]) => type), faults };
}

/** As the API server accepts them: no wildcard, and nothing that would add a line to a role. */
const PLURAL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** Finds the kind in a CustomResourceDefinition among the objects. */
function definitionOf(
  { group, version, kind }: GroupVersionKind,
  objects: readonly KubernetesObject[],
): ResourceType | undefined {
  if (group !== '' && !SUBDOMAIN.test(group)) return undefined;
  for (const { kind: own, spec } of objects) {
    if (own !== 'CustomResourceDefinition' || spec?.['group'] !== group) continue;
    const plural = fieldOf(spec['names'], 'plural');
    if (fieldOf(spec['names'], 'kind') === kind && typeof plural === 'string' && PLURAL.test(plural)) {
      return { group, version, resource: plural };
    }
  }
  return undefined;
}

function fieldOf(value: unknown, key: string): unknown {
  return isJsonObject(value) ? Object.entries(value).find(([name]) => name === key)?.[1] : undefined;
}
