/**
 * Calls a hook by a custom resource: made of the user's template, done when its condition is `True`. It is owned by the object that is
 * terminated, and goes with it. A change of it is a heartbeat.
 */
import { ANNOTATIONS, CONFIG_MAP } from '../../../shared/contract/names.ts';
import { lookUpResource, type Mark } from '../../../shared/custom-resource/follow.ts';
import { makeResource, readTemplate, resolveManifest } from '../../../shared/custom-resource/request.ts';
import {
  refOf,
  resourceNameOf,
  type KubernetesObject,
  type ObjectRef,
} from '../../../shared/domain/kubernetes-object.ts';
import { isConditionTrue, readConditions } from '../../../shared/domain/node.ts';
import { notServed } from '../../../shared/domain/not-served.ts';
import type { HookTarget, TerminationHook } from '../../../shared/domain/termination.ts';
import { addDuration, toTimestamp } from '../../../shared/domain/time.ts';
import { renderHookResource } from './hook-template.ts';
import type { ResourceAnswer } from './decide.ts';
import type { HookProgress } from './record.ts';
import type { TerminationContext } from './context.ts';

type ByResource = Extract<HookTarget, { kind: 'customResource' }>;

/** The key of a hook: equal for all calls about it in one termination, also when a NodeClaim that went has left it to its Node. */
export const keyOfHook = (context: TerminationContext, { name }: TerminationHook): string =>
  `${context.state().hookKeyUid ?? context.observed.object.metadata.uid}/${name}`;

/**
 * Makes the custom resource, or adopts one that an earlier try of this very hook made. @throws RetryableError when the API server could not be
 * asked
 */
export async function makeHookResource(
  context: TerminationContext,
  hook: TerminationHook & { readonly target: ByResource },
  { firstInvokedTime, unawaited }: HookProgress,
): Promise<ResourceAnswer> {
  const { kubernetes } = context.deps;
  const { observed } = context;
  const { template } = hook.target;
  const text = await readTemplate(kubernetes, template);
  if (text === undefined) return failed(`ConfigMap ${CONFIG_MAP.namespace}/${CONFIG_MAP.name} has no key ${template}`);
  const rendered = renderHookResource(text, template, {
    hook: hook.name,
    at: hook.at,
    providerID: observed.providerID,
    deadline: toTimestamp(addDuration(firstInvokedTime, hook.deadline)),
    isForced: unawaited === 'forced',
    claim: observed.claim,
    node: observed.nodes[0],
    owner: observed.object,
  });
  if (!rendered.ok) return failed(rendered.message);
  const { manifest } = rendered;
  const resolved = await resolveManifest(kubernetes, manifest);
  if (resolved.kind === 'notServed') return failed(resolved.message);
  const { ref } = resolved;
  const made = await makeResource(kubernetes, ref, manifest, markOf(context, hook));
  switch (made.kind) {
    case 'created':
      return answerOf(hook.target, ref, made.object);
    case 'foreign':
      return failed(`${manifest.kind} ${ref.name} was made by somebody else, and has the name of this hook's`);
    case 'refused':
      return failed(made.message);
  }
}

/** The mark of the hook and termination that a custom resource was made for. */
const markOf = (context: TerminationContext, hook: TerminationHook): Mark => ({
  annotation: ANNOTATIONS.terminationHook,
  value: keyOfHook(context, hook),
});

/** Reads the custom resource. One of its name that was not made for this hook says nothing (I10). */
export async function followResource(
  context: TerminationContext,
  hook: TerminationHook & { readonly target: ByResource },
  known: NonNullable<HookProgress['resource']>,
): Promise<ResourceAnswer> {
  const { resource, name, uid } = known;
  const ref = refOf(known);
  const found = await lookUpResource(context.deps.kubernetes, ref, { mark: markOf(context, hook), uid });
  switch (found.kind) {
    case 'present':
      if (found.isOurs) return answerOf(hook.target, ref, found.object);
      return failed(`${resource} ${name} was removed, and somebody else's has its name`);
    case 'absent':
      return failed(`${resource} ${name} was removed`);
    case 'notServed':
      return failed(`${resource} ${name} is out of sight: ${notServed(ref.type, found.versions)}`);
  }
}

function answerOf({ conditionType }: ByResource, ref: ObjectRef, object: KubernetesObject): ResourceAnswer {
  if (isConditionTrue(readConditions(object.status?.['conditions']), conditionType)) return { kind: 'succeeded' };
  const { uid, resourceVersion: seenVersion } = object.metadata;
  return { kind: 'pending', resource: { ...resourceNameOf(ref), uid, seenVersion } };
}

const failed = (message: string): ResourceAnswer => ({ kind: 'failed', message });
