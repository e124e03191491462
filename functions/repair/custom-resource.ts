/**
 * CustomResource: somebody else's remediator is asked by a custom resource that the user's template describes, under the contract of
 * node-healthcheck-operator: named after the node, condition `Processing` while it works. Its end is in `made-resources.ts`.
 */
import { type ActionContext, TAKEN } from './action.ts';
import { nodeOfRequest } from './drain.ts';
import { type Rendering, renderRemediation } from './remediation-template.ts';
import type { PassDeps } from './context.ts';
import type { Granted } from './decide.ts';
import type { ObservedPool } from './observe.ts';
import type { NodeRecord, Ours, ResourceName } from './record.ts';
import { isDeepStrictEqual } from 'node:util';
import { loadPodsOnNode } from '../../shared/cluster/protected-pods.ts';
import { ANNOTATIONS, CONFIG_MAP } from '../../shared/contract/names.ts';
import type { Mark } from '../../shared/custom-resource/follow.ts';
import { readTemplate, requestResource, resolveManifest } from '../../shared/custom-resource/request.ts';
import type { KubernetesManifest, ObjectRef } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, seconds } from '../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import type { StepOutcome } from '../../shared/lifecycle/steps.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';

const RETRY = seconds(30);

type Context = ActionContext<'CustomResource'>;
/** What describes the resource. */
type Described = Rendering & Pick<Context, 'deps' | 'now'>;

/**
 * An object of its name that another made is left alone, and waited for until the time of the action is over.
 *
 * @param template key of the template in the ConfigMap
 */
export async function createRemediation(context: Context, template: string): Promise<StepOutcome> {
  const { kubernetes } = context.deps;
  const wanted = await describe(context, template);
  if (wanted.kind !== 'known') return wanted;
  const { ref, manifest } = wanted;
  const { type, name } = ref;
  const { kind } = manifest;
  const existing = objectOf(await kubernetes.get(ref), { notServed: 'notKnown' });
  if (existing !== undefined) return adopt(context, ref, existing.metadata);
  if (!isIntended(context.ours, nameOf(ref))) {
    return {
      kind: 'notYet',
      until: addDuration(context.now, seconds(1)),
      on: `${kind} ${name} has yet to be recorded`,
    };
  }
  const outcome = await requestResource(kubernetes, type, manifest, markOf(context));
  switch (outcome.kind) {
    case 'created':
      remember(context, ref, outcome.object.metadata.uid);
      return TAKEN;
    case 'exists':
      return {
        kind: 'notYet',
        until: addDuration(context.now, seconds(1)),
        on: `${kind} ${name} was made by somebody else`,
      };
    case 'refused': {
      const { reason, message } = outcome;
      return reason === 'NamespaceNotFound' ? later(context, message) : { kind: 'failed', reason, message };
    }
  }
}

type Wanted = { readonly kind: 'known'; readonly ref: ObjectRef; readonly manifest: KubernetesManifest };

/** The resource that the template describes for this node; the outcome of the act where it describes none that can be made. */
async function describe(
  context: Described,
  template: string,
): Promise<Wanted | Exclude<StepOutcome, { kind: 'done' }>> {
  const rendered = await render(context, template);
  if (rendered.kind === 'failed') return rendered;
  const { manifest } = rendered;
  const resolved = await resolveManifest(context.deps.kubernetes, manifest);
  if (resolved.kind === 'notServed') return later(context, resolved.message);
  return { kind: 'known', ref: resolved.ref, manifest };
}

/**
 * What the repair has made with the resource that it is going to make, to be recorded before that (I7). As it was where there is none, or
 * none can be told: the act itself says why.
 */
export async function intendedResource(
  deps: PassDeps,
  { pool, claims }: ObservedPool,
  { attempt, action: { template }, finding: { node }, message }: Granted & Pick<Context, 'attempt'>,
  { ours }: NodeRecord,
): Promise<Ours | undefined> {
  if (template === undefined) return ours;
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  try {
    const pods = await loadPodsOnNode(deps, node.name);
    const wanted = await describe({ deps, now: deps.clock.now(), attempt, node, claim, pool, pods, message }, template);
    if (wanted.kind !== 'known') return ours;
    const name = nameOf(wanted.ref);
    return isIntended(ours, name) ? ours : { ...ours, mayHaveMade: [...(ours?.mayHaveMade ?? []), name] };
  } catch (error) {
    // The act itself meets the same failure, and makes nothing that is not recorded. What is none of these is a mistake of ours.
    if (!(error instanceof RetryableError || error instanceof TerminalError)) throw error;
    return ours;
  }
}

const isIntended = (ours: Ours | undefined, name: ResourceName): boolean =>
  (ours?.mayHaveMade ?? []).some(each => isDeepStrictEqual(each, name));

/** Until somebody installs what is missing, or the time of the action is over. */
const later = ({ now }: Pick<ActionContext, 'now'>, on: string): Extract<StepOutcome, { kind: 'notYet' }> => ({
  kind: 'notYet',
  until: addDuration(now, RETRY),
  on,
});

async function render(
  context: Described,
  key: string,
): Promise<{ readonly kind: 'ok'; readonly manifest: KubernetesManifest } | Extract<StepOutcome, { kind: 'failed' }>> {
  const { namespace, name } = CONFIG_MAP;
  const text = await readTemplate(context.deps.kubernetes, key);
  if (text === undefined) {
    return { kind: 'failed', reason: 'NoTemplate', message: `ConfigMap ${namespace}/${name} has no key ${key}` };
  }
  const rendered = renderRemediation(text, context);
  if (!rendered.ok) {
    const place = rendered.line === undefined ? '' : `line ${rendered.line}: `;
    return { kind: 'failed', reason: rendered.reason, message: `${key}: ${place}${rendered.message}` };
  }
  const { manifest } = rendered;
  const annotations = { ...manifest.metadata.annotations, [ANNOTATIONS.repairedNode]: context.node.name };
  return { kind: 'ok', manifest: { ...manifest, metadata: { ...manifest.metadata, annotations } } };
}

/** Which repair made it. */
const markOf = ({ attempt }: Pick<Context, 'attempt'>): Mark => ({
  annotation: ANNOTATIONS.repair,
  value: attempt.requestId ?? '',
});

/** Made by an earlier try of ours: that was it. Somebody else's remediation of this node has the time of this action. */
function adopt(
  context: Context,
  ref: ObjectRef,
  { uid, annotations }: { readonly uid: string; readonly annotations?: Readonly<Record<string, string>> | undefined },
): StepOutcome {
  if (annotations?.[ANNOTATIONS.repair] === context.attempt.requestId) {
    remember(context, ref, uid);
    return TAKEN;
  }
  const isOurs =
    nodeOfRequest(annotations?.[ANNOTATIONS.repair] ?? '') === nodeOfRequest(context.attempt.requestId ?? '');
  const who = isOurs ? 'an action before this one' : 'somebody else';
  return later(context, `${ref.type.resource} ${ref.name} is there already, and was made by ${who}`);
}

function remember({ ours, note }: Context, ref: ObjectRef, uid: string): void {
  const name = nameOf(ref);
  const left = ours?.mayHaveMade?.filter(each => !isDeepStrictEqual(each, name)) ?? [];
  note({
    resources: [...(ours?.resources ?? []), { ...name, uid }],
    ...(left.length > 0 && { mayHaveMade: left }),
  });
}

const nameOf = ({ type: { group, version, resource }, namespace, name }: ObjectRef): ResourceName => ({
  group,
  version,
  resource,
  ...(namespace !== undefined && { namespace }),
  name,
});
