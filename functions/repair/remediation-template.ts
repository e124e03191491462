/**
 * The template of a remediation: Go's text/template over the data of a drain template, so that one template can serve both, and over
 * what is known of the repair. It names apiVersion and kind itself; without a name of its own the object is named after the node.
 */
import type { ActionContext } from './action.ts';
import { type DrainTemplateData, renderRepairObject } from '../../shared/custom-resource/drain-template.ts';
import type { HealthEvent } from '../../shared/domain/health-event.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
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
  const { apiVersion, kind, metadata, ...rest } = rendered.value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    return { ok: false, reason: 'RenderedYamlInvalid', message: 'the rendered object has no apiVersion or no kind' };
  }
  const given = isJsonObject(metadata) ? metadata : {};
  const { name } = given;
  const named = { ...given, name: typeof name === 'string' && name !== '' ? name : context.node.name };
  return { ok: true, manifest: { ...rest, apiVersion, kind, metadata: named } };
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
  const namespaces = Map.groupBy(pods, ({ namespace }) => namespace);
  const podsToDrain = Object.fromEntries(
    [...namespaces].map(([namespace, members]) => [namespace, members.map(({ name }) => name).toSorted()]),
  );
  return { event, podsToDrain };
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
