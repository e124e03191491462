/** `curfew drain NODE`: asks for the drain of a node, by an annotation on it, and follows it; says before what becomes of every pod. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { FULL, readUnderWay } from '../functions/drain/explain.ts';
import { ANNOTATIONS } from '../shared/contract/names.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { onOneLine } from '../shared/domain/printable.ts';
import { objectOf } from '../shared/ports/read-answer.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';
import type { CommandOutput } from './command-output.ts';
import { follow, type FollowResult } from './drain/follow.ts';
import { loadConfiguration } from './drain/observe.ts';
import { planDrain } from './drain/plan.ts';
import { renderPlan } from './drain/render.ts';
import type { Cluster } from './cluster.ts';
import { toJson } from './explain/json.ts';
import { observeNode, type NodeObservation } from './explain/observation.ts';
import { describeMissing } from './explain/subject.ts';
import { onKubeconfig } from './on-kubeconfig.ts';
import { reportFailure } from './failure.ts';
import { wrapLines } from './wrap.ts';
import { UsageError } from './usage-error.ts';

export interface DrainOptions {
  /** Default: `$KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Says what would become of every pod; writes nothing. */
  readonly dryRun?: boolean;
  /** Withdraws the request, or uncordons a node whose drain somebody else asked for. */
  readonly cancel?: boolean;
  readonly output?: string;
  /** Ends the following; the drain goes on. */
  readonly interrupted?: AbortSignal;
}

/** Time between looks at a drain, in ms. */
const LOOK_EVERY = 1000;

/**
 * Exit code 0: drained, or (dry run, cancel) said or done. 1: the drain failed or was cancelled, (dry run) would be held, (cancel) cannot be
 * called off in this way, or there is no such node. 2: the cluster
 * cannot be used. 130: no longer followed.
 */
export async function drainCommand(name: string, options: DrainOptions, output: CommandOutput): Promise<number> {
  try {
    if (options.dryRun === true && options.cancel === true) throw new UsageError('give either --dry-run or --cancel');
    return await onKubeconfig(options, cluster => run(cluster, name, options, output));
  } catch (error) {
    return reportFailure(error, output);
  }
}

async function run(cluster: Cluster, name: string, options: DrainOptions, output: CommandOutput): Promise<number> {
  const { kubernetes, now } = cluster;
  const observation = await observeNode({ kubernetes }, name);
  if (observation === undefined) {
    output.error(`${await describeMissing(kubernetes, { kind: 'node', name })}\n`);
    return 1;
  }
  if (options.cancel === true) return cancel(kubernetes, observation, output);

  const { annotations } = observation.node;
  const underWay = readUnderWay(annotations[ANNOTATIONS.drainUnderWay]);
  const asked = openRequest(annotations);
  const id = asked ?? newId(now);
  const plan = planDrain(
    observation,
    await loadConfiguration(kubernetes),
    underWay ?? { id, since: now, scope: FULL, force: false, isWaiting: false },
    now,
  );
  const isDryRun = options.dryRun === true;
  const isJson = options.output === 'json';
  /**
   * Prints a line of text. With `--output json` it goes to standard error, because standard output holds the result
   * alone.
   */
  const say = (line: string): void =>
    isJson ? output.error(`${onOneLine(line)}\n`) : output.out(`${wrapLines(onOneLine(line), output.width)}\n`);
  const isHeld = plan.held !== undefined;
  const begins = isDryRun ? (isHeld ? 'would not be drained now' : 'would be drained') : 'is to be drained';
  const verb =
    underWay === undefined ? begins : underWay.isWaiting ? 'waits for its turn to be drained' : 'is being drained';
  if (isDryRun && isJson) output.out(`${toJson(plan)}\n`);
  else renderPlan(plan, verb).forEach(say);
  if (isDryRun) return isHeld ? 1 : 0;

  if (asked === undefined) await ask(kubernetes, observation.node.uid, name, id);
  say(asked === undefined ? `asked for drain ${id}` : `drain ${id} was asked for before: following it`);
  const followed = await follow(kubernetes, {
    name,
    uid: observation.node.uid,
    id,
    say,
    pause: () => sleep(LOOK_EVERY, undefined, { signal: options.interrupted }).catch(() => undefined),
    isOver: () => options.interrupted?.aborted === true,
  });
  const { kind: result, ...answer } = followed;
  if (isJson) output.out(`${toJson({ node: name, id, result, ...answer })}\n`);
  return conclude(followed, { name, options }, isJson ? { ...output, out: output.error } : output);
}

/** A request on the Node that has no answer yet. */
function openRequest(annotations: Readonly<Record<string, string>>): string | undefined {
  const id = annotations[ANNOTATIONS.drainRequested]?.trim();
  if (id === undefined || id === '') return undefined;
  return annotations[ANNOTATIONS.drainAnswer]?.includes(JSON.stringify(id)) === true ? undefined : id;
}

const newId = (now: number): string => `manual-${Math.floor(now / 1000)}-${randomBytes(3).toString('hex')}`;

async function ask(kubernetes: KubernetesApi, uid: string, name: string, id: string): Promise<void> {
  const annotations = { [ANNOTATIONS.drainRequested]: id, [ANNOTATIONS.drainAnswer]: null };
  await patch(kubernetes, name, { metadata: { uid, annotations } });
}

async function patch(kubernetes: KubernetesApi, name: string, body: JsonObject): Promise<KubernetesObject> {
  const outcome = await kubernetes.patch({ type: RESOURCES.Node, name }, { type: 'merge', body });
  if (outcome.kind === 'ok') return outcome.object;
  throw new UsageError(outcome.kind === 'notFound' ? `node ${name} is gone` : `node ${name}: ${outcome.message}`);
}

async function cancel(kubernetes: KubernetesApi, { node }: NodeObservation, output: CommandOutput): Promise<number> {
  const { name, uid, annotations } = node;
  const asked = openRequest(annotations);
  if (asked !== undefined) {
    await patch(kubernetes, name, { metadata: { uid, annotations: { [ANNOTATIONS.drainRequested]: null } } });
    output.out(
      `the request ${onOneLine(asked)} is withdrawn; if others asked for a drain of the node as well, theirs goes on\n`,
    );
    return 0;
  }
  const underWay = readUnderWay(annotations[ANNOTATIONS.drainUnderWay]);
  if (underWay === undefined) {
    output.error(`no drain of node ${name} is under way\n`);
    return 1;
  }
  const object = objectOf(await kubernetes.get({ type: RESOURCES.Node, name }), { ifNotServed: 'throw' });
  if (object?.spec?.['unschedulable'] !== true) {
    output.error(
      `node ${name} is not cordoned, so that uncordoning it cancels nothing: drain ${onOneLine(underWay.id)} ends by itself if somebody uncordoned the node, else take back what it was asked for\n`,
    );
    return 1;
  }
  await patch(kubernetes, name, { metadata: { uid }, spec: { unschedulable: null } });
  output.out(`node ${name} is uncordoned, which cancels drain ${onOneLine(underWay.id)}\n`);
  return 0;
}

interface DrainTarget {
  readonly name: string;
  readonly options: Pick<DrainOptions, 'kubeconfig' | 'context'>;
}

function conclude(followed: FollowResult, { name, options }: DrainTarget, output: CommandOutput): number {
  switch (followed.kind) {
    case 'interrupted': {
      const { kubeconfig, context } = options;
      const cluster = `${kubeconfig === undefined ? '' : ` --kubeconfig ${kubeconfig}`}${context === undefined ? '' : ` --context ${context}`}`;
      const explain = `npx curfew explain node ${name}${cluster}`;
      const drain = `npx curfew drain ${name}${cluster}`;
      output.out(`the drain goes on. Follow it: ${drain}, or ${explain}. Cancel it: ${drain} --cancel\n`);
      return 130;
    }
    case 'withdrawn':
      output.error(`the request was withdrawn: node ${name} is not drained for it\n`);
      return 1;
    case 'gone':
      output.error(`node ${name} is gone\n`);
      return 1;
    case 'answered': {
      const { status, message, left } = followed;
      const isDrained = status === 'Succeeded' || status === 'AlreadyDrained';
      const line = `${status}: ${onOneLine(message)}${left.length === 0 ? '' : ` (${left.join(', ')})`}\n`;
      if (isDrained)
        output.out(`${line}node ${name} stays cordoned: kubectl uncordon ${name} takes it back into use\n`);
      else output.error(line);
      return isDrained ? 0 : 1;
    }
  }
}
