/**
 * `curfew uninstall`: takes Curfew's finalizers off what lives, and gives Karpenter its own back where `builtin: Replace` had taken it, so
 * that Karpenter terminates these nodes again; when asked, its holds too. Run it once the functions are stopped: they would put theirs on
 * again. What only running functions can end it names.
 */
import { systemClock } from '../shared/adapters/system-clock.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import type { KubernetesObject, ObjectRef } from '../shared/domain/kubernetes-object.ts';
import { seconds } from '../shared/domain/time.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';
import type { CommandOutput } from './command-output.ts';
import { reportFailure } from './failure.ts';
import { onKubeconfig } from './on-kubeconfig.ts';
import { TERMINATION_POLICY, TERMINATION_POLICY_TYPES } from './policies/termination-policy.ts';
import { giveBack, markedObjects, type MarkedObject } from './uninstall/give-back.ts';
import { endReplacements } from './uninstall/replacements.ts';
import { listed, Refusals } from './uninstall/refusals.ts';
import { ownConditionsOf, releaseOf, withoutConditions } from './uninstall/release.ts';
import { objectOf } from '../shared/ports/read-answer.ts';

export interface UninstallOptions {
  /** Default: `$KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Says what would be done, and changes nothing. */
  readonly dryRun?: boolean;
  /** Takes off Nodes what nobody would, once Curfew is gone: its do-not-disrupt, and what its drains and repairs have written. */
  readonly releaseHolds?: boolean;
  /**
   * Does the same as `releaseHolds`, and deletes Curfew's definitions once nothing is left to do: while they are
   * missing, none of our objects can be ended.
   */
  readonly definitions?: boolean;
}

/**
 * Exit code 0: done. 1: what is named is left, to running functions, or because the API server refused or failed. 2: the cluster cannot be
 * reached.
 */
export async function uninstallCommand(options: UninstallOptions, output: CommandOutput): Promise<number> {
  try {
    const { dryRun = false, releaseHolds = false, definitions = false, ...cluster } = options;
    let done = 0;
    const say = (line: string): void => {
      done += 1;
      output.out(`${dryRun ? 'would have ' : ''}${line}\n`);
    };
    const pause = (): Promise<void> => systemClock.sleep(PAUSE);
    const { left, held, refused, failed, rules, cordoned } = await onKubeconfig(cluster, ({ kubernetes }) =>
      uninstall(kubernetes, { dryRun, releaseHolds: releaseHolds || definitions, definitions, say, pause }),
    );
    for (const name of cordoned)
      output.out(`Node ${name} stays cordoned after its drain: kubectl uncordon ${name} takes it back into use\n`);
    const isClean = isDone({ left, held, refused, failed, rules });
    if (isClean && done === 0) output.out('Nothing carries a termination finalizer of Curfew.\n');
    if (left.length > 0)
      output.error(`${left.join(', ')}: being terminated by Curfew, left to it. Run this again when they are gone.\n`);
    if (held.length > 0)
      output.error(`${held.join(', ')}: changes again and again. Are the functions stopped? Then run this again.\n`);
    for (const each of refused) output.error(`${each}. Have it allowed, then run this again.\n`);
    for (const each of failed) output.error(`${each}. Run this again.\n`);
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
const POLICIES: readonly ObjectRef[] = [TERMINATION_POLICY_TYPES.binding, TERMINATION_POLICY_TYPES.policy].map(
  type => ({ type, name: TERMINATION_POLICY }),
);
/** Curfew's definitions, and with them all policies and rules. */
const DEFINITIONS: readonly ObjectRef[] = [RESOURCES.NodeLifecyclePolicy, RESOURCES.FinalizerRule].map(
  ({ resource, group }) => ({ type: RESOURCES.CustomResourceDefinition, name: `${resource}.${group}` }),
);
/** An API server looks once a second which policies there are; between two looks at what they have done. */
const PAUSE = seconds(2);
const PASSES = 15;
/** Looks that find nothing, after one that did. */
const QUIET_PASSES = 5;

export interface Remains {
  /** Objects that are being terminated under our finalizer, as `NodeClaim a`. */
  readonly left: readonly string[];
  /** Objects that somebody changes back, or whenever they are read. */
  readonly held: readonly string[];
  /** Objects that the API server refuses to have read or changed, such as by an admission webhook, with its words. The rest was done. */
  readonly refused: readonly string[];
  /** Objects that failed at each pass for another reason, such as 5xx, with the words of the API server. */
  readonly failed: readonly string[];
  /** FinalizerRules, when Curfew goes for good: objects carry their finalizers. */
  readonly rules: readonly string[];
  /** Nodes that an ended drain has left cordoned, for whatever is wrong with them. */
  readonly cordoned: readonly string[];
}

const isDone = ({ left, held, refused, failed, rules }: Omit<Remains, 'cordoned'>): boolean =>
  [left, held, refused, failed, rules].every(each => each.length === 0);

interface UninstallContext extends Pick<UninstallOptions, 'releaseHolds' | 'definitions'> {
  readonly dryRun: boolean;
  readonly say: (line: string) => void;
  readonly pause: () => Promise<void>;
  readonly refusals: Refusals;
}

/**
 * For some seconds API servers still judge writes by the admission policy that was deleted, and it turns Karpenter's finalizer into ours
 * again, in our writes and in others': only a later look that finds nothing of ours ends it.
 */
export async function uninstall(
  kubernetes: KubernetesApi,
  options: Omit<UninstallContext, 'refusals'>,
): Promise<Remains> {
  const refusals = new Refusals();
  const remains = await carryOut(kubernetes, { ...options, refusals });
  const held = remains.held.filter(what => !refusals.has(what));
  return withRefusals({ ...remains, held }, refusals);
}

/** Objects that remain, beside those that were refused or failed. */
type OtherRemains = Omit<Remains, 'refused' | 'failed'>;

const withRefusals = (remains: OtherRemains, refusals: Refusals): Remains => ({
  ...remains,
  refused: refusals.refused(),
  failed: refusals.failed(),
});

async function carryOut(kubernetes: KubernetesApi, run: UninstallContext): Promise<OtherRemains> {
  const { refusals } = run;
  let isPolicyDeleted = false;
  const policies = await inPasses(run, () =>
    deleteEach(kubernetes, { refs: POLICIES, ifNotServed: 'empty' }, run, what => {
      isPolicyDeleted = !run.dryRun;
      run.say(`deleted ${what}`);
    }),
  );
  if (isPolicyDeleted) await run.pause();
  const returns = createReturns();
  let left: readonly MarkedObject[] = [];
  const held = await inPasses(run, async () => {
    const marked = await markedObjects(kubernetes, refusals);
    // Nothing can be added to what is being deleted.
    left = marked.filter(({ isTerminating }) => isTerminating);
    const living = marked.filter(({ isTerminating }) => !isTerminating);
    for (const each of living) {
      if (await refusals.try(each.what, () => giveBack(kubernetes, each, run))) returns.taken(each.what);
    }
    return living.map(({ what }) => what).filter(what => !refusals.isRefused(what));
  });
  const names = left.map(({ what }) => what);
  // An admission policy that an API server still has puts them back as well.
  const back = isPolicyDeleted ? held : [...held, ...returns.list()];
  const remains = { left: names, held: unique([...policies, ...back]), rules: [], cordoned: [] };
  if (run.releaseHolds !== true) return remains;
  const released = await release(kubernetes, remains, run);
  if (run.definitions !== true || !isDone(withRefusals(released, refusals))) return released;
  const kept = await inPasses(run, () =>
    deleteEach(kubernetes, { refs: DEFINITIONS, ifNotServed: 'throw' }, run, (_, name) =>
      run.say(`deleted the definition ${name}`),
    ),
  );
  return { ...released, held: kept };
}

/** @returns those that changed in the moment of their deletion */
async function deleteEach(
  kubernetes: KubernetesApi,
  { refs, ifNotServed }: { readonly refs: readonly ObjectRef[]; readonly ifNotServed: 'empty' | 'throw' },
  { dryRun, refusals }: UninstallContext,
  say: (what: string, name: string) => void,
): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const ref of refs) {
    const what = `${ref.type.resource} ${ref.name}`;
    const outcome = await refusals.try(what, async () => {
      const found = objectOf(await kubernetes.get(ref), { ifNotServed });
      if (found === undefined) return 'notFound';
      const { uid, resourceVersion } = found.metadata;
      return dryRun ? 'ok' : (await kubernetes.delete(ref, { preconditions: { uid, resourceVersion } })).kind;
    });
    if (outcome === 'ok') say(what, ref.name);
    if (outcome === 'conflict') changed.push(what);
  }
  return changed;
}

/** Finalizers and annotations that were taken off an object twice and have come back: functions run, which wait for minutes before they put it on for the fourth time. */
interface Returns {
  taken(what: string): void;
  list(): readonly string[];
}

function createReturns(): Returns {
  const counts = new Map<string, number>();
  return {
    taken: what => void counts.set(what, (counts.get(what) ?? 0) + 1),
    list: () => [...counts].flatMap(([what, count]) => (count > 1 ? [what] : [])),
  };
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

/**
 * Repeats what answers with the names of all that is not known to be done, and what failed. It looks on for a while after the last of it:
 * functions that run put theirs on again within seconds.
 *
 * @returns what is left at last
 */
async function inPasses(
  { dryRun, pause, refusals }: UninstallContext,
  act: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const { beginPass, open: failed } = refusals.beforePasses();
  const pass = async (): Promise<readonly string[]> => {
    beginPass();
    const open = await act();
    return [...open, ...failed()];
  };
  let left = await pass();
  if (dryRun || left.length === 0) return [];
  let quiet = 0;
  for (let count = 1; count < PASSES && quiet < QUIET_PASSES; count += 1) {
    await pause();
    const open = await pass();
    quiet = open.length === 0 ? quiet + 1 : 0;
    if (open.length > 0) left = open;
  }
  return quiet === QUIET_PASSES ? [] : left;
}

/** Takes off what Curfew has put on. @returns false: it is to be looked at again */
async function isReleased(
  kubernetes: KubernetesApi,
  node: KubernetesObject,
  run: UninstallContext & { readonly returns: Returns },
): Promise<boolean> {
  const isDone = await isQuiet(kubernetes, node, run);
  const { taken, isUncordoned, body } = releaseOf(node);
  if (taken.length === 0) return isDone;
  const ref = { type: RESOURCES.Node, name: node.metadata.name };
  const outcome = run.dryRun ? 'ok' : (await kubernetes.patch(ref, { type: 'merge', body })).kind;
  if (outcome === 'ok') {
    run.say(`taken ${taken.join(' and ')} off Node ${ref.name}${isUncordoned ? ', uncordoned it' : ''}`);
    run.returns.taken(`Node ${ref.name}`);
  }
  return false;
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

async function release(kubernetes: KubernetesApi, before: OtherRemains, run: UninstallContext): Promise<OtherRemains> {
  const { refusals } = run;
  const returns = createReturns();
  let cordoned: string[] = [];
  const held = await inPasses(run, async () => {
    cordoned = [];
    const changed = [...(await endReplacements(kubernetes, run, refusals))];
    for (const node of await listed(kubernetes, 'Node', refusals)) {
      const { name } = node.metadata;
      const what = `Node ${name}`;
      if (before.left.includes(what)) continue;
      if (releaseOf(node).staysCordoned) cordoned.push(name);
      if ((await refusals.try(what, () => isReleased(kubernetes, node, { ...run, returns }))) === false)
        changed.push(what);
    }
    return changed;
  });
  const rules = await listed(kubernetes, 'FinalizerRule', refusals);
  const names = rules.map(({ metadata }) => metadata.name);
  return { ...before, held: unique([...before.held, ...held, ...returns.list()]), rules: names, cordoned };
}
