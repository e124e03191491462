/** Renders the custom resource that the user's template describes for a repair. */
import type { ActionContext, ActOutcome } from './action.ts';
import { ANNOTATIONS, CONFIG_MAP } from '../../shared/contract/names.ts';
import {
  type DrainTemplateData,
  podsToDrain,
  renderRepairObject,
} from '../../shared/custom-resource/drain-template.ts';
import { faultText, manifestOf } from '../../shared/custom-resource/render.ts';
import { readTemplate, resolveManifest } from '../../shared/custom-resource/request.ts';
import type { HealthEvent } from '../../shared/domain/health-event.ts';
import type { KubernetesManifest, ObjectRef } from '../../shared/domain/kubernetes-object.ts';

/** Facts that describe the resource. */
export type Described = Pick<
  ActionContext<'CustomResource'>,
  'attempt' | 'node' | 'claim' | 'pool' | 'pods' | 'message' | 'deps'
>;

export type Wanted = { readonly kind: 'known'; readonly ref: ObjectRef; readonly manifest: KubernetesManifest };

/**
 * The resource that the template describes for this node, or the outcome of the act if it describes none that can be
 * made.
 */
export async function renderManifest(
  context: Described,
  template: string,
): Promise<Wanted | Extract<ActOutcome, { kind: 'notYet' | 'failed' }>> {
  const rendered = await render(context, template);
  if (rendered.kind === 'failed') return rendered;
  const { manifest } = rendered;
  const resolved = await resolveManifest(context.deps.kubernetes, manifest);
  // Until somebody installs what is missing, or the time of the action is over.
  if (resolved.kind === 'notServed') return { kind: 'notYet', on: resolved.message };
  return { kind: 'known', ref: resolved.ref, manifest };
}

/**
 * Renders what the template describes for this attempt: Go's text/template over the data of a drain template, so that
 * one template can serve both, and over what is known of the repair. It names apiVersion and kind itself; without a
 * name of its own the object is named after the node.
 */
async function render(
  context: Described,
  key: string,
): Promise<{ readonly kind: 'ok'; readonly manifest: KubernetesManifest } | Extract<ActOutcome, { kind: 'failed' }>> {
  const { namespace, name } = CONFIG_MAP;
  const failed = (reason: string, message: string) => ({ kind: 'failed', reason, message }) as const;
  const text = await readTemplate(context.deps.kubernetes, key);
  if (text === undefined) return failed('NoTemplate', `ConfigMap ${namespace}/${name} has no key ${key}`);
  const rendered = renderRepairObject(text, dataOf(context), textsOf(context));
  if (!rendered.ok) return failed(rendered.reason, faultText(key, rendered));
  const manifest = manifestOf(rendered.value, given => ({
    ...given,
    name: typeof given['name'] === 'string' && given['name'] !== '' ? given['name'] : context.node.name,
  }));
  if (manifest === undefined) {
    const message = 'the rendered object has no apiVersion or no kind';
    return failed('RenderedYamlInvalid', faultText(key, { message }));
  }
  const annotations = { ...manifest.metadata.annotations, [ANNOTATIONS.repairedNode]: context.node.name };
  return { kind: 'ok', manifest: { ...manifest, metadata: { ...manifest.metadata, annotations } } };
}

function dataOf({ attempt, node, pods, message }: Described): DrainTemplateData {
  const { conditionType } = attempt.dueCondition;
  const condition = node.conditions.find(({ type }) => type === conditionType);
  const event: HealthEvent = {
    id: attempt.requestId,
    nodeName: node.name,
    version: 1,
    agent: 'curfew',
    componentClass: 'Node',
    checkName: conditionType,
    isFatal: true,
    isHealthy: false,
    message,
    recommendedAction: 0,
    customRecommendedAction: '',
    errorCode: condition === undefined || condition.reason === '' ? [] : [condition.reason],
    entitiesImpacted: [],
    metadata: node.providerID === undefined ? {} : { providerID: node.providerID },
    generatedTimestamp: { seconds: Math.floor(attempt.dueCondition.lastTransitionTime / 1000), nanos: 0 },
    quarantineOverrides: undefined,
    drainOverrides: undefined,
    processingStrategy: 1,
  };
  return { event, podsToDrain: podsToDrain(pods) };
}

function textsOf({ attempt, node, claim, pool }: Described): Readonly<Record<string, string>> {
  const { conditionType, conditionStatus } = attempt.dueCondition;
  return {
    NodeName: node.name,
    NodeUID: node.uid,
    ProviderID: node.providerID ?? '',
    BootID: node.bootID ?? '',
    NodeClaim: claim?.name ?? '',
    NodePool: pool ?? '',
    ConditionType: conditionType,
    ConditionStatus: conditionStatus,
    ConditionReason: node.conditions.find(({ type }) => type === conditionType)?.reason ?? '',
  };
}
