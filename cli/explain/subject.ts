/**
 * The subject of an explanation, written as people know it from kubectl, and a suggestion if there is no such object.
 */
import { RESOURCES } from '../../shared/contract/resources.ts';
import { listed } from '../../shared/domain/cut-text.ts';
import { didYouMean, nearestName, suggestion } from '../../shared/domain/nearest-name.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { UsageError } from '../usage-error.ts';
import { orUnavailable } from '../../shared/ports/read-answer.ts';

export type ExplainSubject =
  | { readonly kind: 'node'; readonly name: string }
  | { readonly kind: 'nodepool'; readonly name: string }
  | { readonly kind: 'policy'; readonly name: string }
  | { readonly kind: 'pod'; readonly namespace: string; readonly name: string }
  /** All of a kind. */
  | { readonly kind: 'nodepools' }
  | { readonly kind: 'policies' };

/** One object. */
export type ExplainedObject = Extract<ExplainSubject, { readonly name: string }>;

/** The names of a kind that kubectl takes, too. */
const KINDS: ReadonlyMap<string, ExplainedObject['kind']> = new Map([
  ...(['pod', 'pods', 'po'] as const).map(name => [name, 'pod'] as const),
  ...(['node', 'nodes', 'no'] as const).map(name => [name, 'node'] as const),
  ...(['nodepool', 'nodepools'] as const).map(name => [name, 'nodepool'] as const),
  ...(['policy', 'policies', 'nlp', 'nodelifecyclepolicy', 'nodelifecyclepolicies'] as const).map(
    name => [name, 'policy'] as const,
  ),
]);
const USAGE = 'explain pod NAMESPACE/NAME, node NAME, nodepool [NAME] or policy [NAME]';

/**
 * Reads `KIND NAME` or `KIND/NAME`. Throws `UsageError`.
 * @param namespace of a pod that is named without one
 */
export function parseSubject(kindText: string, nameText: string | undefined, namespace = 'default'): ExplainSubject {
  const [kindName = '', ...rest] = nameText === undefined ? kindText.split('/') : [kindText];
  const name = nameText ?? rest.join('/');
  const kind = KINDS.get(kindName.toLowerCase());
  if (kind === undefined) throw new UsageError(`${USAGE}, not ${kindName}${didYouMean(nearestKind(kindName))}`);
  if (name === '' && kind === 'policy') return { kind: 'policies' };
  if (name === '' && kind === 'nodepool') return { kind: 'nodepools' };
  if (name === '') throw new UsageError(`${USAGE}: a name is missing`);
  if (kind !== 'pod') return { kind, name };
  const parts = name.split('/');
  const [first = '', second] = parts;
  const pod = second ?? first;
  const where = second === undefined ? namespace : first;
  if (parts.length > 2 || pod === '' || where === '') throw new UsageError(`a pod is NAMESPACE/NAME, not ${name}`);
  return { kind, namespace: where, name: pod };
}

/**
 * Finds the kind that was probably meant: one that begins with the word comes before one that differs by a few letters.
 */
function nearestKind(word: string): string | undefined {
  const names = [...KINDS.keys()];
  return names.find(name => word.length > 2 && name.startsWith(word.toLowerCase())) ?? nearestName(word, names);
}

const TYPES = {
  pod: RESOURCES.Pod,
  node: RESOURCES.Node,
  nodepool: RESOURCES.NodePool,
  policy: RESOURCES.NodeLifecyclePolicy,
} as const;

/** Says that there is no such object, and names a near one; a pod of that name in another namespace is the nearest. */
export async function describeMissing(kubernetes: KubernetesApi, subject: ExplainedObject): Promise<string> {
  // Who may get one object and not list all gets no hint.
  const answer = await orUnavailable(kubernetes.list(TYPES[subject.kind]));
  const objects = answer.kind === 'there' ? answer.objects : [];
  if (subject.kind !== 'pod') {
    const names = objects.map(({ metadata }) => metadata.name);
    return `${subject.kind} ${subject.name} does not exist${suggestion(subject.name, names) || othersOf(names)}`;
  }
  const full = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;
  const elsewhere = objects.find(({ metadata }) => metadata.name === subject.name)?.metadata;
  const here = objects.filter(({ metadata }) => metadata.namespace === subject.namespace);
  const near = nearestName(subject.name, here.map(({ metadata }) => metadata.name)); // prettier-ignore
  const meant =
    elsewhere === undefined ? near && full(subject.namespace, near) : full(elsewhere.namespace, elsewhere.name);
  return `pod ${full(subject.namespace, subject.name)} does not exist${didYouMean(meant)}`;
}

const othersOf = (names: readonly string[]): string =>
  names.length === 0 ? '' : `: there ${names.length === 1 ? 'is' : 'are'} ${listed(names)}`;
