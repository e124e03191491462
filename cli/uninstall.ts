/**
 * `curfew uninstall`: takes Curfew's finalizers off what lives, and gives Karpenter its own back where `builtin: Replace` had taken it, so
 * that Karpenter terminates these nodes again; when asked, its holds too. Run it once the functions are stopped: they would put theirs on
 * again. What only running functions can end it names.
 */
import { systemClock } from '../shared/adapters/system-clock.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import type { KubernetesObject, ResourceType } from '../shared/domain/kubernetes-object.ts';
import { seconds } from '../shared/domain/time.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';
import type { CommandOutput } from './command-output.ts';
import { reportFailure } from './failure.ts';
import { onKubeconfig } from './on-kubeconfig.ts';
import { TERMINATION_POLICY, TERMINATION_POLICY_TYPES } from './policies/termination-policy.ts';
import { giveBack, markedObjects, type MarkedObject } from './uninstall/give-back.ts';
import { endReplacements } from './uninstall/replacements.ts';
import { ownConditionsOf, releaseOf, withoutConditions } from './uninstall/release.ts';
import { objectOf, objectsOf } from '../shared/ports/read-answer.ts';

export interface UninstallOptions {
  /** Default: `$KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Says what would be done, and changes nothing. */
  readonly dryRun?: boolean;
  /** Takes off Nodes what nobody would, once Curfew is gone: its do-not-disrupt, and what its drains and repairs have written. */
  readonly releaseHolds?: boolean;
  /** The same, and at last, when nothing is left to do, deletes Curfew's definitions: while they are missing nothing of ours can be ended. */
  readonly definitions?: boolean;
}

/** Exit code 0: done. 1: only running functions can release what is named. 2: the cluster cannot be reached. */
export async function uninstallCommand(options: UninstallOptions, output: CommandOutput): Promise<number> {
  try {
    const { dryRun = false, releaseHolds = false, definitions = false, ...cluster } = options;
    let done = 0;
    const say = (line: string): void => {
      done += 1;
      output.out(`${dryRun ? 'would have ' : ''}${line}\n`);
    };
    const pause = (): Promise<void> => systemClock.sleep(PAUSE);
    const { left, held, rules, cordoned } = await onKubeconfig(cluster, ({ kubernetes }) =>
      uninstall(kubernetes, { dryRun, releaseHolds: releaseHolds || definitions, definitions, say, pause }),
    );
    for (const name of cordoned)
      output.out(`Node ${name} stays cordoned after its drain: kubectl uncordon ${name} takes it back into use\n`);
    const isClean = isDone({ left, held, rules });
    if (isClean && done === 0) output.out('Nothing carries a termination finalizer of Curfew.\n');
    if (left.length > 0)
      output.error(`${left.join(', ')}: being terminated by Curfew, left to it. Run this again when they are gone.\n`);
    if (held.length > 0)
      output.error(`${held.join(', ')}: changes again and again. Are the functions stopped? Then run this again.\n`);
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

/** The binding first: without it the policy judges nothing. */
const POLICIES: readonly ResourceType[] = [TERMINATION_POLICY_TYPES.binding, TERMINATION_POLICY_TYPES.policy];
/** An API server looks once a second which policies there are; between two looks at what they have done. */
const PAUSE = seconds(2);
const PASSES = 15;

export interface Remains {
  /** What is being terminated under our finalizer, as `NodeClaim a`. */
  readonly left: readonly string[];
  /** What somebody changes back, or whenever it is read. */
  readonly held: readonly string[];
  /** FinalizerRules, when Curfew goes for good: objects carry their finalizers. */
  readonly rules: readonly string[];
  /** Nodes that an ended drain has left cordoned, for whatever is wrong with them. */
  readonly cordoned: readonly string[];
}

const isDone = ({ left, held, rules }: Pick<Remains, 'left' | 'held' | 'rules'>): boolean =>
  left.length === 0 && held.length === 0 && rules.length === 0;

interface UninstallContext extends Pick<UninstallOptions, 'releaseHolds' | 'definitions'> {
  readonly dryRun: boolean;
  readonly say: (line: string) => void;
  readonly pause: () => Promise<void>;
}

/**
 * For some seconds API servers still judge writes by the admission policy that was deleted, and it turns Karpenter's finalizer into ours
 * again, in our writes and in others': only a later look that finds nothing of ours ends it.
 */
export async function uninstall(kubernetes: KubernetesApi, run: UninstallContext): Promise<Remains> {
  if (await isPolicyDeleted(kubernetes, run)) await run.pause();
  let left: readonly MarkedObject[] = [];
  const held = await inPasses(run, async () => {
    const marked = await markedObjects(kubernetes);
    // Nothing can be added to what is being deleted.
    left = marked.filter(({ isTerminating }) => isTerminating);
    const living = marked.filter(({ isTerminating }) => !isTerminating);
    for (const each of living) await giveBack(kubernetes, each, run);
    return living.map(({ what }) => what);
  });
  const remains = { left: left.map(({ what }) => what), held, rules: [], cordoned: [] };
  if (run.releaseHolds !== true) return remains;
  const released = await release(kubernetes, remains, run);
  if (run.definitions === true && isDone(released)) await removeDefinitions(kubernetes, run);
  return released;
}

async function isPolicyDeleted(kubernetes: KubernetesApi, { dryRun, say }: UninstallContext): Promise<boolean> {
  let isDeleted = false;
  for (const type of POLICIES) {
    const ref = { type, name: TERMINATION_POLICY };
    const found = objectOf(await kubernetes.get(ref), { notServed: 'none' });
    if (found === undefined) continue;
    const { uid, resourceVersion } = found.metadata;
    if (!dryRun) await kubernetes.delete(ref, { preconditions: { uid, resourceVersion } });
    isDeleted = !dryRun;
    say(`deleted ${type.resource} ${TERMINATION_POLICY}`);
  }
  return isDeleted;
}

/** Repeats what answers with the names of all that is not known to be done; the names that are left at last. */
async function inPasses(
  { dryRun, pause }: UninstallContext,
  pass: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  for (let count = 1; ; count += 1) {
    const open = await pass();
    if (dryRun || open.length === 0) return [];
    if (count === PASSES) return open;
    await pause();
  }
}

/** Takes Curfew's conditions off. @returns false: the Node changed meanwhile */
async function isQuiet(
  kubernetes: KubernetesApi,
  node: KubernetesObject,
  { dryRun, say }: UninstallContext,
): Promise<boolean> {
  const types = ownConditionsOf(node);
  if (types.length === 0) return true;
  const ref = { type: RESOURCES.Node, name: node.metadata.name };
  const patch = { type: 'strategic', body: withoutConditions(node, types) } as const;
  const outcome = dryRun ? 'ok' : (await kubernetes.patch(ref, patch, { subresource: 'status' })).kind;
  if (outcome === 'ok') say(`taken ${types.map(type => `condition ${type}`).join(' and ')} off Node ${ref.name}`);
  return outcome !== 'conflict';
}

/** Curfew's definitions, and with them all policies and rules. */
async function removeDefinitions(kubernetes: KubernetesApi, { dryRun, say }: UninstallContext): Promise<void> {
  for (const type of [RESOURCES.NodeLifecyclePolicy, RESOURCES.FinalizerRule]) {
    const ref = { type: RESOURCES.CustomResourceDefinition, name: `${type.resource}.${type.group}` };
    const found = objectOf(await kubernetes.get(ref), { notServed: 'notKnown' });
    if (found === undefined) continue;
    const { uid, resourceVersion } = found.metadata;
    const outcome = dryRun ? 'ok' : (await kubernetes.delete(ref, { preconditions: { uid, resourceVersion } })).kind;
    if (outcome === 'ok') say(`deleted the definition ${ref.name}`);
  }
}

async function release(kubernetes: KubernetesApi, before: Remains, run: UninstallContext): Promise<Remains> {
  let cordoned: string[] = [];
  const held = await inPasses(run, async () => {
    cordoned = [];
    const changed = [...(await endReplacements(kubernetes, run))];
    for (const node of objectsOf(await kubernetes.list(RESOURCES.Node), { notServed: 'notKnown' })) {
      const { taken, isUncordoned, staysCordoned, body } = releaseOf(node);
      const { name } = node.metadata;
      if (before.left.includes(`Node ${name}`)) continue;
      if (!(await isQuiet(kubernetes, node, run))) changed.push(`Node ${name}`);
      if (staysCordoned) cordoned.push(name);
      if (taken.length === 0) continue;
      const ref = { type: RESOURCES.Node, name };
      const outcome = run.dryRun ? 'ok' : (await kubernetes.patch(ref, { type: 'merge', body })).kind;
      if (outcome === 'conflict') changed.push(`Node ${name}`);
      if (outcome === 'ok')
        run.say(`taken ${taken.join(' and ')} off Node ${name}${isUncordoned ? ', uncordoned it' : ''}`);
    }
    return changed;
  });
  const rules = objectsOf(await kubernetes.list(RESOURCES.FinalizerRule), { notServed: 'none' });
  const names = rules.map(({ metadata }) => metadata.name);
  return { ...before, held: [...before.held, ...held], rules: names, cordoned };
}
