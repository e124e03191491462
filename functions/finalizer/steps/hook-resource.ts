/**
 * A hook that is a custom resource: made of the user's template, done when its condition is `True`. It is owned by what is terminated
 * and goes with it. A change of it is a heartbeat.
 */
import type { HookAnswer } from '../../../shared/contract/hook-answer.ts';
import { otherVersionsOf } from '../../../shared/cluster/other-versions.ts';
import { ANNOTATIONS, CONFIG_MAP } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { isJsonObject } from '../../../shared/domain/json.ts';
import type { KubernetesObject, ObjectRef } from '../../../shared/domain/kubernetes-object.ts';
import { parseApiVersion } from '../../../shared/domain/kubernetes-object.ts';
import { notServed } from '../../../shared/domain/not-served.ts';
import { readConditions } from '../../../shared/domain/node.ts';
import type { HookTarget, TerminationHook } from '../../../shared/domain/termination.ts';
import { addDuration, toTimestamp } from '../../../shared/domain/time.ts';
import { renderHookResource } from '../hook-template.ts';
import type { HookProgress } from '../record.ts';
import type { TerminationContext } from './context.ts';
import { objectOf } from '../../../shared/ports/read-answer.ts';

type ByResource = Extract<HookTarget, { kind: 'customResource' }>;

/** `resource`: how it is found again; its version as it was last seen. */
export type ResourceAnswer = HookAnswer & { readonly resource?: HookProgress['resource'] };

/** Equal for all calls about one hook of one termination, also when a NodeClaim that went has left it to its Node. */
export const keyOfHook = (context: TerminationContext, { name }: TerminationHook): string =>
  `${context.progress().keyUid ?? context.look.object.metadata.uid}/${name}`;

/** Makes it, or adopts one that an earlier try of this very hook made. @throws RetryableError when the API server could not be asked */
export async function makeResource(
  context: TerminationContext,
  hook: TerminationHook & { readonly target: ByResource },
  { firstInvokedTime, unawaited }: HookProgress,
): Promise<ResourceAnswer> {
  const { kubernetes } = context.deps;
  const { look } = context;
  const { template } = hook.target;
  const text = await readTemplate(context, template);
  if (text === undefined) return failed(`ConfigMap ${CONFIG_MAP.namespace}/${CONFIG_MAP.name} has no key ${template}`);
  const key = keyOfHook(context, hook);
  const rendered = renderHookResource(text, template, {
    hook: hook.name,
    at: hook.at,
    providerID: look.providerID,
    deadline: toTimestamp(addDuration(firstInvokedTime, hook.deadline)),
    forced: unawaited === 'forced',
    claim: look.claim,
    node: look.nodes[0],
    owner: look.object,
    key,
  });
  if (!rendered.ok) return failed(rendered.message);
  const { manifest } = rendered;
  const { apiVersion, kind, metadata } = manifest;
  const asked = { ...parseApiVersion(apiVersion), kind };
  const type = await kubernetes.resolve(asked);
  if (type === undefined) return failed(notServed(asked, await kubernetes.versionsOf(asked)));
  const { name = '', namespace } = metadata;
  const ref = { type, name, ...(namespace !== undefined && { namespace }) };
  const outcome = await kubernetes.create(type, manifest);
  switch (outcome.kind) {
    case 'ok':
      return answerOf(hook.target, ref, outcome.object);
    case 'exists': {
      const found = objectOf(await kubernetes.get(ref), { notServed: 'notKnown' });
      if (found !== undefined && isMadeFor(found, key)) return answerOf(hook.target, ref, found);
      return failed(`${kind} ${name} was made by somebody else, and has the name of this hook's`);
    }
    case 'notFound':
      return failed(`${kind} ${name} cannot be made: its namespace ${namespace ?? ''} is not there`);
    case 'invalid':
      return failed(`${kind} ${name} was refused: ${outcome.message}`);
  }
}

const isMadeFor = ({ metadata }: KubernetesObject, key: string): boolean =>
  metadata.annotations?.[ANNOTATIONS.terminationHook] === key;

/** How it stands now. One of its name that was not made for this hook says nothing (I10). */
export async function followResource(
  context: TerminationContext,
  hook: TerminationHook & { readonly target: ByResource },
  { group, version, resource, namespace, name }: NonNullable<HookProgress['resource']>,
): Promise<ResourceAnswer> {
  const ref = { type: { group, version, resource }, name, ...(namespace !== undefined && { namespace }) };
  const { kubernetes } = context.deps;
  const seen = await kubernetes.get(ref);
  const found = seen.kind === 'there' ? seen.object : undefined;
  if (found !== undefined && isMadeFor(found, keyOfHook(context, hook))) return answerOf(hook.target, ref, found);
  if (found !== undefined) return failed(`${resource} ${name} was removed, and somebody else's has its name`);
  if (seen.kind === 'notThere') return failed(`${resource} ${name} was removed`);
  const versions = await otherVersionsOf(kubernetes, ref.type);
  return failed(`${resource} ${name} is out of sight: ${notServed(ref.type, versions)}`);
}

function answerOf(
  { conditionType }: ByResource,
  { type, namespace, name }: ObjectRef,
  object: KubernetesObject,
): ResourceAnswer {
  const isDone = readConditions(object.status?.['conditions']).some(
    condition => condition.type === conditionType && condition.status === 'True',
  );
  if (isDone) return { kind: 'succeeded' };
  const seenVersion = object.metadata.resourceVersion;
  return { kind: 'pending', resource: { ...type, ...(namespace !== undefined && { namespace }), name, seenVersion } };
}

const failed = (message: string): ResourceAnswer => ({ kind: 'failed', message });

async function readTemplate({ deps }: TerminationContext, key: string): Promise<string | undefined> {
  const { namespace, name } = CONFIG_MAP;
  const configMap = objectOf(await deps.kubernetes.get({ type: RESOURCES.ConfigMap, namespace, name }), {
    notServed: 'notKnown',
  });
  const data = configMap?.['data'];
  const text = isJsonObject(data) && Object.hasOwn(data, key) ? data[key] : undefined;
  return typeof text === 'string' ? text : undefined;
}
