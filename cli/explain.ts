/**
 * `curfew explain pod NS/NAME`, `node NAME`, `nodepool NAME`, `policy NAME`, and lists of the last two. It explains a
 * cluster, or a scenario at some moment of its run.
 */
import { readUnderWay, requestedId } from '../functions/drain/explain.ts';
import { ANNOTATIONS } from '../shared/contract/names.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import { readPod } from '../shared/domain/pod.ts';
import { onOneLine } from '../shared/domain/printable.ts';
import type { EpochMs } from '../shared/domain/time.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';
import { loadConfiguration } from './drain/observe.ts';
import { planDrain } from './drain/plan.ts';
import { explainNode, explainPod, type NodeExplanation } from './explain/explain-node.ts';
import { observeNode, type NodeObservation } from './explain/observation.ts';
import { readDrain, whoAsks } from './explain/drain-record.ts';
import { explainGroup, explainGroups, renderGroup, renderGroups } from './explain/group.ts';
import { toJson } from './explain/json.ts';
import { explainLifecycle, inForceOf, observeLifecycle, type LifecycleExplanation } from './explain/lifecycle.ts';
import { readRefusals, renderRefusals } from './explain/refusals.ts';
import { renderNode, renderPod } from './explain/render.ts';
import { loadRepairEvents, withRepairEvents } from './explain/repair-events.ts';
import { describeMissing, parseSubject, type ExplainedObject } from './explain/subject.ts';
import { planTermination } from './explain/termination-plan.ts';
import type { KnownTermination } from './explain/termination-record.ts';
import { reportFailure } from './failure.ts';
import type { CommandOutput } from './command-output.ts';
import type { Cluster, ClusterQuery } from './cluster.ts';
import { UsageError } from './usage-error.ts';
import { wrapLines } from './wrap.ts';
import { objectOf } from '../shared/ports/read-answer.ts';

export interface ExplainOptions {
  /** Default: `$KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Namespace of a pod that is named without one. Default: `default`. */
  readonly namespace?: string;
  /** A scenario file, in place of a cluster; `FILE#NAME` when it holds several. */
  readonly scenario?: string;
  /** With `scenario`: when to look. */
  readonly at?: string;
  readonly output?: string;
  /** The functions stack, whose records say what is refused; absent: they are not read. */
  readonly stack?: string;
  readonly region?: string;
}

/** Exit code 0: explained. 1: there is no such object. 2: the arguments, the file or the cluster cannot be used. */
export async function explainCommand(
  kind: string,
  name: string | undefined,
  options: ExplainOptions,
  output: CommandOutput,
): Promise<number> {
  try {
    const subject = parseSubject(kind, name, options.namespace);
    const isJson = options.output === 'json';
    const print = (text: string): 0 => {
      output.out(`${isJson ? text : wrapLines(text, output.width)}\n`);
      return 0;
    };
    return await onCluster(options, async cluster => {
      if (subject.kind === 'policies' || subject.kind === 'nodepools')
        return print(await list(cluster, subject.kind, isJson));
      const text = await explain(cluster, subject, isJson);
      if (text !== undefined) return print(text);
      output.error(`${await describeMissing(cluster.kubernetes, subject)}\n`);
      return 1;
    });
  } catch (error) {
    return reportFailure(error, output);
  }
}

/** A line for each policy or NodePool, or all of them as JSON. */
async function list(cluster: Cluster, kind: 'policies' | 'nodepools', asJson: boolean): Promise<string> {
  const groups = explainGroups(
    await observeLifecycle(cluster),
    await loadRepairEvents(cluster.kubernetes),
    kind,
    cluster.now,
  );
  return asJson ? toJson(groups) : renderGroups(groups, kind);
}

/** The explanation as text or JSON; undefined when the object does not exist. */
export async function explain(
  cluster: Cluster,
  subject: ExplainedObject,
  asJson: boolean,
): Promise<string | undefined> {
  const { kubernetes, now, records } = cluster;
  const json = toJson;
  if (subject.kind === 'nodepool' || subject.kind === 'policy') {
    const group = explainGroup(await observeLifecycle(cluster), await loadRepairEvents(kubernetes), subject, now);
    return group && (asJson ? json(group) : renderGroup(group, now));
  }
  if (subject.kind === 'node') {
    const observation = await observeNode(cluster, subject.name);
    if (observation === undefined) return undefined;
    const node = explainNode(observation, now);
    const decided = explainLifecycle(await observeLifecycle(cluster), observation.node, now);
    const said = (await loadRepairEvents(kubernetes, subject.name)).get(observation.node.uid);
    const known = withRepairEvents(decided, observation.node, said, now);
    const lifecycle = await withDrain(
      kubernetes,
      withTermination(withStored(known, observation.stored), observation, node, now),
      observation,
      { now, records },
    );
    const refused = records && (await readRefusals(records, observation));
    if (asJson) return json({ ...node, lifecycle, ...(refused && { refused }) });
    return [renderNode(node, lifecycle), ...renderRefusals(refused ?? [], now).map(onOneLine)].join('\n');
  }
  const object = objectOf(
    await kubernetes.get({ type: RESOURCES.Pod, namespace: subject.namespace, name: subject.name }),
    { ifNotServed: 'throw' },
  );
  if (object === undefined) return undefined;
  const pod = readPod(object);
  const observation = pod.nodeName === undefined ? undefined : await observeNode(cluster, pod.nodeName);
  if (observation === undefined) {
    const where = pod.nodeName === undefined ? 'it is not bound to a node' : `its node ${pod.nodeName} does not exist`;
    return asJson
      ? json({ namespace: pod.namespace, name: pod.name, protected: false, reason: where })
      : `Pod ${pod.namespace}/${pod.name}: ${where}, so there is nothing to protect it from`;
  }
  const explained = explainPod(pod, observation, now);
  return asJson ? json(explained) : renderPod(explained, explainNode(observation, now));
}

/** By what the table remembers, where no policy says it any more. */
function withStored(lifecycle: LifecycleExplanation, stored: KnownTermination | undefined): LifecycleExplanation {
  if (stored === undefined || lifecycle.termination.since === undefined) return lifecycle;
  const { termination } = lifecycle;
  const { settings, hooks } = stored;
  const message =
    termination.isLeft && settings !== undefined
      ? `${inForceOf(settings)}, as when it began: neither the NodePool nor a policy asks for it any more`
      : termination.message;
  return { ...lifecycle, termination: { ...termination, message, hooks } };
}

function withTermination(
  lifecycle: LifecycleExplanation,
  observation: NodeObservation,
  { deadline }: NodeExplanation,
  now: EpochMs,
): LifecycleExplanation {
  const { termination } = lifecycle;
  const { since, source, held, isLeft } = termination;
  if (since === undefined || (source === undefined && !isLeft) || held !== undefined) return lifecycle;
  const pods = planTermination(observation, deadline.kind === 'at' ? deadline.time : undefined, now);
  return { ...lifecycle, termination: { ...termination, pods } };
}

async function withDrain(
  kubernetes: KubernetesApi,
  lifecycle: LifecycleExplanation,
  observation: NodeObservation,
  { now, records }: Pick<Cluster, 'now' | 'records'>,
): Promise<LifecycleExplanation> {
  const underWay = readUnderWay(observation.node.annotations[ANNOTATIONS.drainUnderWay]);
  if (underWay === undefined) return lifecycle;
  const { node } = observation;
  const known = records && (await readDrain(records, node, underWay.id));
  const plan = planDrain(observation, await loadConfiguration(kubernetes), underWay, now);
  const { id, since, isWaiting } = underWay;
  const { requested, answer } = lifecycle.drain;
  const askedBy = whoAsks(id, node, answer === undefined ? requestedId(requested) : undefined, known);
  return {
    ...lifecycle,
    drain: { ...lifecycle.drain, underWay: { id, since, askedBy, waits: isWaiting, over: known?.over, plan } },
  };
}

async function onCluster<Answer>(options: ExplainOptions, look: ClusterQuery<Answer>): Promise<Answer> {
  if (options.scenario !== undefined) {
    if (options.kubeconfig !== undefined || options.context !== undefined)
      throw new UsageError(
        'give either --scenario or --kubeconfig and --context: one is a file, the other your cluster',
      );
    const { onScenario } = await import('./explain/on-scenario.ts');
    return onScenario(options.scenario, options.at, look);
  }
  if (options.at !== undefined) throw new UsageError('--at needs --scenario: a cluster is always looked at now');
  const { onKubeconfig } = await import('./on-kubeconfig.ts');
  const { stack, region } = options;
  if (stack === undefined) return onKubeconfig(options, look);
  const { readRecordsOf } = await import('./operate/records.ts');
  const records = await readRecordsOf(stack, { ...(region !== undefined && { region }) });
  return onKubeconfig(options, cluster => look({ ...cluster, records }));
}
