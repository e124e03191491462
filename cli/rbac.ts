/** `curfew rbac finalizerrules [FILES...]`: prints what the kinds of FinalizerRules must be granted, for `kubectl apply -f -`. */
import { ruleKindManifests } from '../deploy/rule-kind-roles.ts';
import { parseFinalizerRule } from '../shared/contract/finalizer-rule-schema.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import {
  apiVersionOf,
  type GroupVersionKind,
  type JsonValue,
  type KubernetesObject,
  type ResourceType,
} from '../shared/domain/kubernetes-object.ts';
import { RetryableError, TerminalError } from '../shared/errors.ts';
import { PROCESS_OUTPUT, type CommandOutput } from './command-output.ts';
import { onKubeconfig } from './explain/on-kubeconfig.ts';
import { readObjects } from './read-objects.ts';
import { UsageError } from './usage-error.ts';

export interface RbacOptions {
  /** Default without files: `$KUBECONFIG`, else `~/.kube/config`. With files: asked for kinds that they do not define. */
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** undefined: nobody serves the kind. */
type Resolve = (kind: GroupVersionKind) => Promise<ResourceType | undefined>;

/**
 * Prints one ClusterRole with its binding for the forwarder and one for the finalizer function, the same for the same kinds. Exit code
 * 0: printed. 1: a rule is not valid, or its kind is not known; nothing is printed. 2: a file or the cluster cannot be read.
 */
export async function rbacCommand(
  files: readonly string[],
  options: RbacOptions,
  output: CommandOutput = PROCESS_OUTPUT,
): Promise<number> {
  try {
    const onCluster = options.kubeconfig !== undefined || options.context !== undefined;
    const objects = await readObjects(files);
    const defined: Resolve = async kind => definitionOf(kind, objects);
    const result =
      files.length > 0 && !onCluster
        ? await kindsOf(objects, defined)
        : await onKubeconfig(options, async ({ kubernetes }) => {
            const rules = files.length > 0 ? objects : await rulesOf(kubernetes.list(RESOURCES.FinalizerRule));
            return kindsOf(rules, async kind => (await defined(kind)) ?? (await kubernetes.resolve(kind)));
          });
    if (result.faults.length > 0) {
      output.error(result.faults.map(fault => `${fault}\n`).join(''));
      return 1;
    }
    if (result.types.length === 0) output.error('There is no FinalizerRule: nothing need be granted.\n');
    else output.out(ruleKindManifests(result.types));
    return 0;
  } catch (error) {
    const isRefused = error instanceof RetryableError || error instanceof TerminalError;
    if (!(error instanceof UsageError) && !isRefused) throw error;
    output.error(`${error.message}\n`);
    return 2;
  }
}

const rulesOf = async (list: Promise<readonly KubernetesObject[] | undefined>): Promise<readonly KubernetesObject[]> =>
  // The items of a list need not name their kind.
  ((await list) ?? []).map(rule => ({ ...rule, kind: 'FinalizerRule' }));

/** The resources of the kinds that the rules name, each once, in order of their names. */
async function kindsOf(
  objects: readonly KubernetesObject[],
  resolve: Resolve,
): Promise<{ readonly types: readonly ResourceType[]; readonly faults: readonly string[] }> {
  const types = new Map<string, ResourceType>();
  const faults: string[] = [];
  for (const { kind, metadata, spec } of objects) {
    if (kind !== 'FinalizerRule') continue;
    const rule = parseFinalizerRule(spec, 'spec');
    if (!rule.ok) {
      faults.push(`FinalizerRule ${metadata.name}: ${rule.message}`);
      continue;
    }
    const type = await resolve(rule.value);
    if (type !== undefined) types.set(`${type.resource}.${type.group}`, type);
    else {
      const wanted = `${rule.value.kind} in ${apiVersionOf(rule.value)}`;
      faults.push(
        `FinalizerRule ${metadata.name}: what serves ${wanted} is not known: give its CustomResourceDefinition among the files, or a cluster that serves it (--kubeconfig)`,
      );
    }
  }
  return { types: [...types].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, type]) => type), faults };
}

/** What a CustomResourceDefinition among the objects says of the kind. */
function definitionOf(
  { group, version, kind }: GroupVersionKind,
  objects: readonly KubernetesObject[],
): ResourceType | undefined {
  for (const { kind: own, spec } of objects) {
    if (own !== 'CustomResourceDefinition' || spec?.['group'] !== group) continue;
    const plural = fieldOf(spec['names'], 'plural');
    if (fieldOf(spec['names'], 'kind') === kind && typeof plural === 'string') {
      return { group, version, resource: plural };
    }
  }
  return undefined;
}

function fieldOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).find(([name]) => name === key)?.[1]
    : undefined;
}
