/** Renders the custom resource that the user's template describes for a repair. */
import type { ActionContext } from './action.ts';
import { ANNOTATIONS } from '../../shared/contract/names.ts';
import {
  type DrainTemplateData,
  podsToDrain,
  renderRepairObject,
} from '../../shared/custom-resource/drain-template.ts';
import { describedBy, type DescribedResource } from '../../shared/custom-resource/request.ts';
import type { HealthEvent } from '../../shared/domain/health-event.ts';
import { textOrEmpty } from '../../shared/domain/json.ts';

/** Facts that describe the resource. */
export type Described = Pick<
  ActionContext<'CustomResource'>,
  'attempt' | 'node' | 'claim' | 'pool' | 'pods' | 'message' | 'deps'
>;

/**
 * The resource that the template describes for this attempt: Go's text/template over the data of a drain template, so
 * that one template can serve both, and over what is known of the repair. Without a name of its own the object is named
 * after the node.
 */
export async function renderManifest(context: Described, template: string): Promise<DescribedResource> {
  const nodeName = context.node.name;
  const described = await describedBy(context.deps.kubernetes, {
    key: template,
    render: text => renderRepairObject(text, dataOf(context), textsOf(context)),
    metadataOf: given => ({ ...given, name: textOrEmpty(given['name']) || nodeName }),
  });
  if (described.kind !== 'served') return described;
  const { manifest } = described;
  const annotations = { ...manifest.metadata.annotations, [ANNOTATIONS.repairedNode]: nodeName };
  return { ...described, manifest: { ...manifest, metadata: { ...manifest.metadata, annotations } } };
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
