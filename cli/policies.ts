/** `curfew policies admission [FILES...]`: prints the admission policy that puts the termination finalizers on from the first write. */
import { stringify } from 'yaml';
import type { GroupVersionKind, KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import type { CommandOutput } from './command-output.ts';
import { readObjects } from './read-objects.ts';
import { UsageError } from './usage-error.ts';
import { reportFailure } from './failure.ts';
import { onKubeconfig } from './on-kubeconfig.ts';
import { isEmptyTable, terminationPolicy } from './policies/termination-policy.ts';
import { poolsAndPolicies, terminationTable } from './policies/termination-settings.ts';

export interface AdmissionOptions {
  /** Default: `$KUBECONFIG`, else `~/.kube/config`. Not with files. */
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** The source of the policy, and whether the cluster would take it. For files nobody knows that, so nothing is said. */
interface Source {
  readonly objects: readonly KubernetesObject[];
  readonly isPolicyServed: boolean;
}

const POLICY_KIND: GroupVersionKind = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicy',
};
const NOT_SERVED =
  'The cluster does not serve MutatingAdmissionPolicy in admissionregistration.k8s.io/v1, as Kubernetes 1.36 and newer do, and will ' +
  'refuse this policy. Without it the finalizer goes on as soon as Curfew sees the object, and builtin: Replace is as Keep.\n';

/**
 * Prints YAML for `kubectl apply -f -`, the same for the same NodePools and policies. Exit code 0: printed. 1: a policy or NodePool
 * cannot be read, nothing is printed. 2: a file or the cluster cannot be read.
 */
export async function admissionCommand(
  files: readonly string[],
  options: AdmissionOptions,
  output: CommandOutput,
): Promise<number> {
  try {
    const { objects, isPolicyServed } = files.length > 0 ? await fromFiles(files, options) : await fromCluster(options);
    const result = terminationTable(objects);
    if (result.kind === 'invalid') {
      output.error(result.messages.map(message => `${message}\n`).join(''));
      return 1;
    }
    if (isEmptyTable(result.table)) {
      output.error('No NodePool and no policy asks for a termination finalizer: this policy puts none on.\n');
    }
    if (!isPolicyServed) output.error(NOT_SERVED);
    output.out(
      terminationPolicy(result.table)
        .map(manifest => stringify(manifest, { lineWidth: 0 }))
        .join('---\n'),
    );
    return 0;
  } catch (error) {
    return reportFailure(error, output);
  }
}

async function fromCluster(options: AdmissionOptions): Promise<Source> {
  return onKubeconfig(options, async ({ kubernetes }) => {
    const objects = await poolsAndPolicies(kubernetes);
    return { objects, isPolicyServed: (await kubernetes.resolve(POLICY_KIND)) !== undefined };
  });
}

async function fromFiles(files: readonly string[], { kubeconfig, context }: AdmissionOptions): Promise<Source> {
  if (kubeconfig !== undefined || context !== undefined) {
    throw new UsageError('give either files or a cluster: --kubeconfig and --context go without files');
  }
  return { objects: await readObjects(files), isPolicyServed: true };
}
