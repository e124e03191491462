/**
 * Calls a hook by a custom resource: made of the user's template, done when its condition is `True`. It is owned by the object that is
 * terminated, and goes with it. A change of it is a heartbeat.
 *
 * The template is Go's text/template. It gets `.Hook`, `.At`, `.ProviderID`, `.Deadline` (RFC 3339), `.Forced` (made at a deadline or for a
 * forceful repair: nothing waits for it), and `.NodeClaim` and `.Node` as the API server has them; absent ones are nil.
 */
import { ANNOTATIONS } from '../../../shared/contract/names.ts';
import { lookUpResource, type Mark } from '../../../shared/custom-resource/follow.ts';
import { renderObject } from '../../../shared/custom-resource/render.ts';
import { readDescribedResource, makeResource } from '../../../shared/custom-resource/request.ts';
import { toJson } from '../../../shared/domain/json.ts';
import {
  refOf,
  resourceNameOf,
  type JsonObject,
  type KubernetesObject,
  type ObjectRef,
} from '../../../shared/domain/kubernetes-object.ts';
import { isConditionTrue, readConditions } from '../../../shared/domain/node.ts';
import { notServed } from '../../../shared/domain/not-served.ts';
import type { HookTarget, TerminationHook } from '../../../shared/domain/termination.ts';
import { addDuration, toTimestamp } from '../../../shared/domain/time.ts';
import type { ResourceAnswer } from './rule/hook-progress.ts';
import type { HookProgressIn, HookResource } from './record.ts';
import type { StepContext } from './context.ts';

type ByResource = Extract<HookTarget, { kind: 'customResource' }>;

/** The key of a hook: equal for all calls about it in one termination, also when a NodeClaim that went has left it to its Node. */
export const keyOfHook = (context: StepContext, { name }: TerminationHook): string =>
  `${context.record().hookKeyUid ?? context.observed.object.metadata.uid}/${name}`;

/**
 * Makes the custom resource, or adopts one that an earlier try of this very hook made. @throws RetryableError when the API server could not be
 * asked
 */
export async function makeHookResource(
  context: StepContext,
  hook: TerminationHook & { readonly target: ByResource },
  { firstInvokedTime, unawaited }: HookProgressIn<'intended'>,
): Promise<ResourceAnswer> {
  const { kubernetes } = context.deps;
  const { object: owner, claim, nodes, providerID = '' } = context.observed;
  const { apiVersion, kind, metadata } = owner;
  const { template } = hook.target;
  const data = {
    Hook: hook.name,
    At: hook.at,
    ProviderID: providerID,
    Deadline: toTimestamp(addDuration(firstInvokedTime, hook.deadline)),
    Forced: unawaited === 'forced',
    NodeClaim: asJson(claim),
    Node: asJson(nodes[0]),
  };
  const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }];
  const described = await readDescribedResource(kubernetes, {
    key: template,
    render: text => renderObject({ name: template, text }, data),
    metadataOf: given => ({ ...given, name: `${hook.name}-${metadata.uid}`, ownerReferences }),
    textOf: (key, { message }) => `template ${key}: ${message}`,
  });
  if (described.kind !== 'served') return failed(described.message);
  const { ref, manifest } = described;
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

/** The object as plain JSON. */
const asJson = (object: KubernetesObject | undefined): JsonObject | null =>
  object === undefined ? null : toJson(object);

/** The mark of the hook and termination that a custom resource was made for. */
const markOf = (context: StepContext, hook: TerminationHook): Mark => ({
  annotation: ANNOTATIONS.terminationHook,
  value: keyOfHook(context, hook),
});

/** Reads the custom resource. One of its name that was not made for this hook says nothing (I10). */
export async function followResource(
  context: StepContext,
  hook: TerminationHook & { readonly target: ByResource },
  known: HookResource,
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
