/**
 * `curfew uninstall`: takes Curfew's finalizers off what lives, and gives Karpenter its own back where `builtin: Replace` had taken it, so
 * that Karpenter terminates these nodes again; when asked, its holds too. Run it once the functions are stopped: they would put theirs on
 * again. What only running functions can end it names.
 */
import { ANNOTATIONS, KARPENTER } from '../shared/contract/names.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject, ResourceType } from '../shared/domain/kubernetes-object.ts';
import { TerminalError } from '../shared/errors.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';
import type { CommandOutput } from './command-output.ts';
import { reportFailure } from './failure.ts';
import { onKubeconfig } from './on-kubeconfig.ts';
import { TERMINATION_POLICY } from './policies/termination-policy.ts';
import { releaseOf } from './uninstall/release.ts';

export interface UninstallOptions {
  /** Default: `$KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Says what would be done, and changes nothing. */
  readonly dryRun?: boolean;
  /** Takes off Nodes what nobody would, once Curfew is gone: its do-not-disrupt, and what its drains have written. */
  readonly releaseHolds?: boolean;
}

/** Exit code 0: done. 1: only running functions can release what is named. 2: the cluster cannot be reached. */
export async function uninstallCommand(options: UninstallOptions, output: CommandOutput): Promise<number> {
  try {
    const { dryRun = false, releaseHolds = false, ...cluster } = options;
    let done = 0;
    const say = (line: string): void => {
      done += 1;
      output.out(`${dryRun ? 'would have ' : ''}${line}\n`);
    };
    const { left, rules, cordoned } = await onKubeconfig(cluster, ({ kubernetes }) =>
      uninstall(kubernetes, { dryRun, releaseHolds, say }),
    );
    for (const name of cordoned)
      output.out(`Node ${name} stays cordoned after its drain: kubectl uncordon ${name} takes it back into use\n`);
    const isClean = left.length === 0 && rules.length === 0;
    if (isClean && done === 0) output.out('Nothing carries a termination finalizer of Curfew.\n');
    if (left.length > 0)
      output.error(`${left.join(', ')}: being terminated by Curfew, left to it. Run this again when they are gone.\n`);
    if (rules.length > 0)
      output.error(
        `FinalizerRule ${rules.join(', ')}: objects carry its finalizer, and could not go without Curfew. ` +
          'While the functions run: kubectl delete finalizerrules --all. Then run this again.\n',
      );
    return isClean ? 0 : 1;
  } catch (error) {
    return reportFailure(error, output);
  }
}

const ADMISSION = 'admissionregistration.k8s.io';
/** The binding first: without it the policy judges nothing. */
const POLICIES: readonly ResourceType[] = ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'].map(
  resource => ({ group: ADMISSION, version: 'v1', resource }),
);

export interface Remains {
  /** What is being terminated under our finalizer, as `NodeClaim a`. */
  readonly left: readonly string[];
  /** FinalizerRules, when Curfew goes for good: objects carry their finalizers. */
  readonly rules: readonly string[];
  /** Nodes that an ended drain has left cordoned, for whatever is wrong with them. */
  readonly cordoned: readonly string[];
}

export async function uninstall(
  kubernetes: Pick<KubernetesApi, 'get' | 'list' | 'patch' | 'delete'>,
  {
    dryRun,
    releaseHolds = false,
    say,
  }: Pick<UninstallOptions, 'releaseHolds'> & { readonly dryRun: boolean; readonly say: (line: string) => void },
): Promise<Remains> {
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
  if (!releaseHolds) return { left, rules: [], cordoned: [] };
  const cordoned: string[] = [];
  for (const node of (await kubernetes.list(RESOURCES.Node)) ?? []) {
    const { taken, isUncordoned, staysCordoned, body } = releaseOf(node);
    const { name } = node.metadata;
    if (left.includes(`Node ${name}`)) continue;
    if (staysCordoned) cordoned.push(name);
    if (taken.length === 0) continue;
    if (!dryRun && !(await isChanged(kubernetes, 'Node', name, body))) continue;
    say(`taken ${taken.join(' and ')} off Node ${name}${isUncordoned ? ', uncordoned it' : ''}`);
  }
  const rules = (await kubernetes.list(RESOURCES.FinalizerRule)) ?? [];
  return { left, rules: rules.map(({ metadata }) => metadata.name), cordoned };
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
  const body = { metadata: { uid, resourceVersion, finalizers: next, annotations } };
  if (!dryRun && !(await isChanged(kubernetes, kind, name, body))) return;
  const given = isMissing ? `, put ${KARPENTER.terminationFinalizer} on` : '';
  say(`taken ${mark} off ${kind} ${name}${given}`);
}

/** False: it is gone. Throws when it is not the one that was read. */
async function isChanged(
  kubernetes: Pick<KubernetesApi, 'patch'>,
  kind: Marked['kind'],
  name: string,
  body: JsonObject,
): Promise<boolean> {
  const outcome = await kubernetes.patch({ type: RESOURCES[kind], name }, { type: 'merge', body });
  if (outcome.kind === 'notFound') return false;
  if (outcome.kind !== 'ok') throw new TerminalError('Conflict', `${kind} ${name} changed: run this again`);
  return true;
}
