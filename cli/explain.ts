/** `curfew explain pod NS/NAME`, `curfew explain node NAME`: on a cluster, or on a scenario at some moment of its run. */
import { RESOURCES } from '../shared/contract/resources.ts';
import { readPod } from '../shared/domain/pod.ts';
import { explainNode, explainPod } from './explain/explain-node.ts';
import { observeNode } from './explain/observation.ts';
import { renderNode, renderPod } from './explain/render.ts';
import { PROCESS_OUTPUT, type CommandOutput } from './command-output.ts';
import type { ExplainedCluster, Look } from './explain/cluster.ts';
import { UsageError } from './usage-error.ts';

export interface ExplainOptions {
  /** Default: `$KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** A scenario file, in place of a cluster; `FILE#NAME` when it holds several. */
  readonly scenario?: string;
  /** With `scenario`: when to look. */
  readonly at?: string;
  readonly output?: string;
}

/** What can be explained. */
export type ExplainSubject =
  | { readonly kind: 'node'; readonly name: string }
  | { readonly kind: 'pod'; readonly namespace: string; readonly name: string };

/** Exit code 0: explained. 1: there is no such object. 2: the arguments, the file or the cluster cannot be used. */
export async function explainCommand(
  kind: string,
  name: string,
  options: ExplainOptions,
  output: CommandOutput = PROCESS_OUTPUT,
): Promise<number> {
  try {
    const subject = parseSubject(kind, name);
    const text = await onCluster(options, cluster => explain(cluster, subject, options.output === 'json'));
    if (text === undefined) output.error(`${kind} ${name} does not exist\n`);
    else output.out(`${text}\n`);
    return text === undefined ? 1 : 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    output.error(`${error.message}\n`);
    return 2;
  }
}

/** The explanation as text or JSON; undefined when the object does not exist. */
export async function explain(
  { kubernetes, now }: ExplainedCluster,
  subject: ExplainSubject,
  asJson: boolean,
): Promise<string | undefined> {
  const json = (value: unknown): string => JSON.stringify(value, undefined, 2);
  if (subject.kind === 'node') {
    const observation = await observeNode(kubernetes, subject.name);
    if (observation === undefined) return undefined;
    const node = explainNode(observation, now);
    return asJson ? json(node) : renderNode(node);
  }
  const object = await kubernetes.get({ type: RESOURCES.Pod, namespace: subject.namespace, name: subject.name });
  if (object === undefined) return undefined;
  const pod = readPod(object);
  const observation = pod.nodeName === undefined ? undefined : await observeNode(kubernetes, pod.nodeName);
  if (observation === undefined) {
    const where = pod.nodeName === undefined ? 'it is not bound to a node' : `its node ${pod.nodeName} does not exist`;
    return asJson
      ? json({ namespace: pod.namespace, name: pod.name, protected: false, reason: where })
      : `Pod ${pod.namespace}/${pod.name}: ${where}, so there is nothing to protect it from`;
  }
  const explained = explainPod(pod, observation, now);
  return asJson ? json(explained) : renderPod(explained, explainNode(observation, now));
}

function parseSubject(kind: string, name: string): ExplainSubject {
  if (kind === 'node') return { kind, name };
  if (kind !== 'pod') throw new UsageError(`explain pod NAMESPACE/NAME or node NAME, not ${kind}`);
  const [namespace, pod, ...rest] = name.split('/');
  if (!namespace || !pod || rest.length > 0) throw new UsageError(`a pod is NAMESPACE/NAME, not ${name}`);
  return { kind, namespace, name: pod };
}

async function onCluster<Answer>(options: ExplainOptions, look: Look<Answer>): Promise<Answer> {
  if (options.scenario !== undefined) {
    const { onScenario } = await import('./explain/on-scenario.ts');
    return onScenario(options.scenario, options.at, look);
  }
  if (options.at !== undefined) throw new UsageError('--at needs --scenario: a cluster is always looked at now');
  const { onKubeconfig } = await import('./explain/on-kubeconfig.ts');
  return onKubeconfig(options, look);
}
