/**
 * The template of a remediation: Go's text/template over the data of a drain template, so that one template can serve both, and over
 * what is known of the repair. It names apiVersion and kind itself; without a name of its own the object is named after the node.
 */
import type { ActionContext } from './action.ts';
import {
  type DrainTemplateData,
  podsToDrain,
  renderRepairObject,
} from '../../shared/custom-resource/drain-template.ts';
import { manifestOf } from '../../shared/custom-resource/render.ts';
import type { HealthEvent } from '../../shared/domain/health-event.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';

/** What is known of the repair. */
export type Rendering = Pick<
  ActionContext<'CustomResource'>,
  'attempt' | 'node' | 'claim' | 'pool' | 'pods' | 'message'
>;

export type RenderedRemediation =
  | { readonly ok: true; readonly manifest: KubernetesManifest }
  | { readonly ok: false; readonly reason: string; readonly message: string; readonly line?: number };

/** What is rendered of the template for this attempt. Never throws. */
export function renderRemediation(template: string, context: Rendering): RenderedRemediation {
  const rendered = renderRepairObject(template, dataOf(context), textsOf(context));
  if (!rendered.ok) return rendered;
  const manifest = manifestOf(rendered.value, given => {
    const { name } = given;
    return { ...given, name: typeof name === 'string' && name !== '' ? name : context.node.name };
  });
  if (manifest === undefined)
    return { ok: false, reason: 'RenderedYamlInvalid', message: 'the rendered object has no apiVersion or no kind' };
  return { ok: true, manifest };
}

function dataOf({ attempt, node, pods, message }: Rendering): DrainTemplateData {
  const { conditionType } = attempt.dueCondition;
  const condition = node.conditions.find(({ type }) => type === conditionType);
  const event: HealthEvent = {
    id: attempt.requestId ?? '',
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

function textsOf({ attempt, node, claim, pool }: Rendering): Readonly<Record<string, string>> {
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
