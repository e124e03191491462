/**
 * `curfew uninstall`: takes Curfew's finalizers off what lives, and gives Karpenter its own back where `builtin: Replace` had taken it, so
 * that Karpenter terminates these nodes again. Run it once the functions are stopped: they would put theirs on again.
 */
import { ANNOTATIONS, KARPENTER } from '../shared/contract/names.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import type { KubernetesObject, ResourceType } from '../shared/domain/kubernetes-object.ts';
import { TerminalError } from '../shared/errors.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';
import { PROCESS_OUTPUT, type CommandOutput } from './command-output.ts';
import { reportFailure } from './failure.ts';
import { onKubeconfig } from './on-kubeconfig.ts';
import { TERMINATION_POLICY } from './policies/termination-policy.ts';

export interface UninstallOptions {
  /** Default: `$KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Says what would be done, and changes nothing. */
  readonly dryRun?: boolean;
}

/** Exit code 0: done. 1: some objects are still being terminated, run it again when they are gone. 2: the cluster cannot be reached. */
export async function uninstallCommand(
  options: UninstallOptions,
  output: CommandOutput = PROCESS_OUTPUT,
): Promise<number> {
  try {
    const { dryRun = false, ...cluster } = options;
    let done = 0;
    const say = (line: string): void => {
      done += 1;
      output.out(`${dryRun ? 'would have ' : ''}${line}\n`);
    };
    const left = await onKubeconfig(cluster, ({ kubernetes }) => uninstall(kubernetes, { dryRun, say }));
    if (done === 0 && left.length === 0) output.out('Nothing carries a termination finalizer of Curfew.\n');
    if (left.length === 0) return 0;
    output.error(`${left.join(', ')}: being terminated by Curfew, left to it. Run this again when they are gone.\n`);
    return 1;
  } catch (error) {
    return reportFailure(error, output);
  }
}

const ADMISSION = 'admissionregistration.k8s.io';
/** The binding first: without it the policy judges nothing. */
const POLICIES: readonly ResourceType[] = ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'].map(
  resource => ({ group: ADMISSION, version: 'v1', resource }),
);

/** @returns what is being terminated under our finalizer, as `NodeClaim a` */
export async function uninstall(
  kubernetes: Pick<KubernetesApi, 'get' | 'list' | 'patch' | 'delete'>,
  { dryRun, say }: { readonly dryRun: boolean; readonly say: (line: string) => void },
): Promise<readonly string[]> {
  for (const type of POLICIES) {
    const ref = { type, name: TERMINATION_POLICY };
    const found = await kubernetes.get(ref);
    if (found === undefined) continue;
    const { uid, resourceVersion } = found.metadata;
    if (!dryRun) await kubernetes.delete(ref, { preconditions: { uid, resourceVersion } });
    say(`deleted ${type.resource} ${TERMINATION_POLICY}`);
  }
  const left: string[] = [];
  for (const kind of ['NodeClaim', 'Node'] as const) {
    for (const { metadata } of (await kubernetes.list(RESOURCES[kind])) ?? []) {
      const mark = metadata.annotations?.[ANNOTATIONS.terminationFinalizer];
      if (mark === undefined) continue;
      const what = `${kind} ${metadata.name}`;
      // Nothing can be added to what is being deleted.
      if (metadata.deletionTimestamp !== undefined) left.push(what);
      else await giveBack(kubernetes, { kind, mark, metadata, dryRun, say });
    }
  }
  return left;
}

interface Marked {
  readonly kind: 'NodeClaim' | 'Node';
  readonly mark: string;
  readonly metadata: KubernetesObject['metadata'];
  readonly dryRun: boolean;
  readonly say: (line: string) => void;
}

async function giveBack(
  kubernetes: Pick<KubernetesApi, 'patch'>,
  { kind, mark, metadata, dryRun, say }: Marked,
): Promise<void> {
  const { name, uid, resourceVersion, finalizers = [], labels } = metadata;
  const kept = finalizers.filter(each => each !== mark);
  const isMissing = labels?.[KARPENTER.nodePoolLabel] !== undefined && !kept.includes(KARPENTER.terminationFinalizer);
  const next = isMissing ? [...kept, KARPENTER.terminationFinalizer] : kept;
  if (!dryRun) {
    const annotations = { [ANNOTATIONS.terminationFinalizer]: null };
    const body = { metadata: { uid, resourceVersion, finalizers: next, annotations } };
    const outcome = await kubernetes.patch({ type: RESOURCES[kind], name }, { type: 'merge', body });
    if (outcome.kind === 'notFound') return;
    if (outcome.kind !== 'ok') throw new TerminalError('Conflict', `${kind} ${name} changed: run this again`);
  }
  const given = isMissing ? `, put ${KARPENTER.terminationFinalizer} on` : '';
  say(`taken ${mark} off ${kind} ${name}${given}`);
}
