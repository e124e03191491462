/**
 * `curfew uninstall`: takes Curfew's finalizers off what lives, and gives Karpenter its own back where `builtin: Replace` had taken it, so
 * that Karpenter terminates these nodes again; when asked, its holds too. Run it once the functions are stopped: they would put theirs on
 * again.
 */
import { ANNOTATIONS, KARPENTER } from '../shared/contract/names.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject, ResourceType } from '../shared/domain/kubernetes-object.ts';
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
  /** Takes the do-not-disrupt annotation off the Nodes that Curfew holds: nobody would, once it is gone. */
  readonly releaseHolds?: boolean;
}

/** Exit code 0: done. 1: some objects are still being terminated, run it again when they are gone. 2: the cluster cannot be reached. */
export async function uninstallCommand(
  options: UninstallOptions,
  output: CommandOutput = PROCESS_OUTPUT,
): Promise<number> {
  try {
    const { dryRun = false, releaseHolds = false, ...cluster } = options;
    let done = 0;
    const say = (line: string): void => {
      done += 1;
      output.out(`${dryRun ? 'would have ' : ''}${line}\n`);
    };
    const left = await onKubeconfig(cluster, ({ kubernetes }) => uninstall(kubernetes, { dryRun, releaseHolds, say }));
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
  {
    dryRun,
    releaseHolds = false,
    say,
  }: Pick<UninstallOptions, 'releaseHolds'> & { readonly dryRun: boolean; readonly say: (line: string) => void },
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
  if (releaseHolds) await release(kubernetes, { dryRun, say });
  return left;
}

/** Only holds of ours: they have the mark, and the value that we write. */
async function release(
  kubernetes: Pick<KubernetesApi, 'list' | 'patch'>,
  { dryRun, say }: Pick<Marked, 'dryRun' | 'say'>,
): Promise<void> {
  for (const { metadata } of (await kubernetes.list(RESOURCES.Node)) ?? []) {
    const { name, uid, resourceVersion, annotations = {} } = metadata;
    if (annotations[ANNOTATIONS.protectedUntil] === undefined) continue;
    const isOurs = annotations[KARPENTER.doNotDisruptAnnotation] === 'true';
    const taken = [...(isOurs ? [KARPENTER.doNotDisruptAnnotation] : []), ANNOTATIONS.protectedUntil];
    const change = { uid, resourceVersion, annotations: Object.fromEntries(taken.map(key => [key, null])) };
    if (dryRun || (await isChanged(kubernetes, 'Node', name, change)))
      say(`taken ${taken.join(' and ')} off Node ${name}`);
  }
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
  const annotations = { [ANNOTATIONS.terminationFinalizer]: null };
  const change = { uid, resourceVersion, finalizers: next, annotations };
  if (!dryRun && !(await isChanged(kubernetes, kind, name, change))) return;
  const given = isMissing ? `, put ${KARPENTER.terminationFinalizer} on` : '';
  say(`taken ${mark} off ${kind} ${name}${given}`);
}

/** False: it is gone. Throws when it is not the one that was read. */
async function isChanged(
  kubernetes: Pick<KubernetesApi, 'patch'>,
  kind: Marked['kind'],
  name: string,
  metadata: JsonObject,
): Promise<boolean> {
  const outcome = await kubernetes.patch({ type: RESOURCES[kind], name }, { type: 'merge', body: { metadata } });
  if (outcome.kind === 'notFound') return false;
  if (outcome.kind !== 'ok') throw new TerminalError('Conflict', `${kind} ${name} changed: run this again`);
  return true;
}
