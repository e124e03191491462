/**
 * CustomResource: asks another remediator to act, by a custom resource that the user's template describes. The
 * contract is that of node-healthcheck-operator. The resource has the name of the node; its condition `Succeeded` is
 * False if the remediator gives up. We annotate the resource when its time is over, and delete it once the node is
 * healthy or gone.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  ACTED,
  type ActionContext,
  type ActionDeps,
  type ActionOutcome,
  type MadeObjects,
  NOT_PASSING,
  notYet,
} from './action.ts';
import type { GrantedRepair } from '../rule/pool-decision.ts';
import type { ActionAnswer } from '../node/attempt-record.ts';
import type { MadeResource, RepairLeftovers } from '../node/record.ts';
import { loadPodsOnNode } from '../../../shared/cluster/protected-pods.ts';
import { ANNOTATIONS } from '../../../shared/contract/names.ts';
import { deleteExactly } from '../../../shared/custom-resource/delete.ts';
import {
  type DrainTemplateData,
  podsToDrain,
  renderRepairObject,
} from '../../../shared/custom-resource/drain-template.ts';
import { findInAnyVersion, type Mark, uidWithMark } from '../../../shared/custom-resource/follow.ts';
import { isNotServed } from '../../../shared/custom-resource/not-served.ts';
import {
  readDescribedResource,
  type DescribedResource,
  makeResource,
} from '../../../shared/custom-resource/request.ts';
import type { HealthEvent } from '../../../shared/domain/health-event.ts';
import { textOrEmpty } from '../../../shared/domain/json.ts';
import {
  type KubernetesObject,
  refOf,
  type ResourceName,
  resourceNameOf,
} from '../../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { type NodeView, readConditions } from '../../../shared/domain/node.ts';
import { notServed } from '../../../shared/domain/not-served.ts';
import { nodeOfRequest } from '../../../shared/domain/source.ts';
import { toTimestamp } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { changeExactly, throwConflict } from '../../../shared/ports/exact-change.ts';
import { type Unavailable, orUnavailable } from '../../../shared/ports/read-answer.ts';

type Context = ActionContext<'CustomResource'>;

/** The resource that an act is going to make; `notKnown`: what describes it cannot be read, and nothing is made. */
export type PlannedResource = DescribedResource | Unavailable;

/**
 * Makes the custom resource. If another made an object of its name, that is left alone, and waited for until the time
 * of the action is over.
 *
 * @param planned what was recorded before: the template is not read again, as the settings may have changed since
 * @throws {TerminalError} where what describes it is refused for good
 */
export async function createRemediation(context: Context, planned: PlannedResource): Promise<ActionOutcome> {
  if (planned.kind === 'unavailable') return notYet(planned.error);
  if (planned.kind === 'failed') return planned;
  // Until somebody installs what is missing, or the time of the action is over.
  if (planned.kind === 'notServed') return { kind: 'notYet', on: planned.message };
  const { ref, manifest } = planned;
  const outcome = await makeResource(context.deps.kubernetes, ref, manifest, markOf(context));
  switch (outcome.kind) {
    case 'created':
      context.recordMade(madeOf(context.leftovers, resourceNameOf(ref), outcome.object.metadata.uid));
      return ACTED;
    // Somebody else's remediation of this node has the time of this action.
    case 'foreign': {
      const who =
        outcome.object && isOfNode(outcome.object, context.node) ? 'an action before this one' : 'somebody else';
      return { kind: 'notYet', on: `${ref.type.resource} ${ref.name} is there already, and was made by ${who}` };
    }
    case 'refused': {
      const { reason, message } = outcome;
      return reason === 'NamespaceNotFound' ? { kind: 'notYet', on: message } : { kind: 'failed', reason, message };
    }
  }
}

/** Renders the resource that the act is going to make. */
export function planResource(
  deps: ActionDeps,
  { pool, claims }: Pick<Context, 'pool'> & { readonly claims: ReadonlyMap<string, NodeClaimView> },
  { attempt, action, finding: { node, verdict } }: GrantedRepair & { readonly type: 'CustomResource' },
): Promise<PlannedResource> {
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  const plan = async (): Promise<DescribedResource> => {
    const pods = await loadPodsOnNode(deps, node.name);
    return renderManifest({ deps, attempt, node, claim, pool, pods, message: verdict.message }, action.template);
  };
  return orUnavailable(plan());
}

/** The leftovers of the repair with the resource that it is going to make, to be recorded before that (I7). */
export function withPlanned(
  leftovers: RepairLeftovers | undefined,
  planned: PlannedResource,
): RepairLeftovers | undefined {
  if (planned.kind !== 'served') return leftovers;
  const name = resourceNameOf(planned.ref);
  return isIntended(leftovers, name)
    ? leftovers
    : { ...leftovers, mayHaveMade: [...(leftovers?.mayHaveMade ?? []), name] };
}

const isIntended = (leftovers: RepairLeftovers | undefined, name: ResourceName): boolean =>
  (leftovers?.mayHaveMade ?? []).some(each => isDeepStrictEqual(each, name));

/** The mark that says which repair made a resource. */
const markOf = ({ attempt }: Pick<Context, 'attempt'>): Mark => ({
  annotation: ANNOTATIONS.repair,
  value: attempt.requestId,
});

/** Whether a repair of this node has made the resource: the request id on each names the node. */
const isOfNode = ({ metadata }: KubernetesObject, { uid }: Pick<NodeView, 'uid'>): boolean =>
  nodeOfRequest(metadata.annotations?.[ANNOTATIONS.repair] ?? '') === uid;

function madeOf(leftovers: RepairLeftovers | undefined, name: ResourceName, uid: string): MadeObjects {
  const otherNames = leftovers?.mayHaveMade?.filter(each => !isDeepStrictEqual(each, name)) ?? [];
  return {
    resources: [...(leftovers?.resources ?? []), { ...name, uid }],
    mayHaveMade: otherNames.length > 0 ? otherNames : undefined,
  };
}

/** Finds what a run that died has made for the attempt. undefined: it made nothing, or that cannot be read. */
export async function findMade(
  { kubernetes }: Pick<ActionDeps, 'kubernetes'>,
  attempt: Context['attempt'],
  leftovers: RepairLeftovers | undefined,
): Promise<MadeObjects | undefined> {
  for (const name of leftovers?.mayHaveMade ?? []) {
    const uid = await orUnavailable(uidWithMark(kubernetes, refOf(name), markOf({ attempt })));
    if (typeof uid === 'string') return madeOf(leftovers, name, uid);
  }
  return undefined;
}

/** The annotation by which remediators of node-healthcheck-operator know that they are out of time. */
const TIMED_OUT_ANNOTATION = 'remediation.medik8s.io/nhc-timed-out';

const SUCCEEDED = 'Succeeded';

/**
 * The answer `failed` if the remediator gave up; undefined: it did not say so. After `Succeeded=True` the attempt goes
 * on until the node is well. Nothing is known of a resource that somebody removed, or that is not served.
 */
export async function remediationAnswer(
  { kubernetes }: Pick<ActionDeps, 'kubernetes'>,
  { resources }: Pick<RepairLeftovers, 'resources'>,
): Promise<ActionAnswer | undefined> {
  const made = resources?.at(-1);
  if (made === undefined) return undefined;
  const found = await findInAnyVersion(kubernetes, refOf(made));
  if (found.kind !== 'there' || found.object.metadata.uid !== made.uid) return undefined;
  const end = readConditions(found.object.status?.['conditions']).find(({ type }) => type === SUCCEEDED);
  if (end?.status !== 'False') return undefined;
  const why = [end.reason, end.message].filter(text => text !== '').join(': ');
  return {
    kind: 'failed',
    message: `${made.resource} ${made.name} says Succeeded=False${why === '' ? '' : `, ${why}`}`,
  };
}

/**
 * Tells the remediators of this repair that their time is over. What cannot be read stops nothing: `notAnnotated` says why it was left alone.
 *
 * @throws {RetryableError | TerminalError} if the change is refused
 */
export async function endRemediations(
  { kubernetes, clock }: Pick<ActionDeps, 'kubernetes' | 'clock'>,
  { resources = [] }: Pick<RepairLeftovers, 'resources'>,
): Promise<{ readonly notAnnotated: string | undefined }> {
  let notAnnotated: string | undefined;
  for (const made of resources) {
    const found = await orUnavailable(findInAnyVersion(kubernetes, refOf(made)));
    if (found.kind === 'unavailable') notAnnotated = found.error.message;
    if (found.kind !== 'there') continue;
    const { uid, annotations: marks } = found.object.metadata;
    if (uid !== made.uid || marks?.[TIMED_OUT_ANNOTATION] !== undefined) continue;
    const annotations = { [TIMED_OUT_ANNOTATION]: toTimestamp(clock.now()) };
    const outcome = await changeExactly(kubernetes, found.ref, { uid }, { annotations });
    throwConflict(`ending ${made.resource} ${made.name}`, outcome);
  }
  return { notAnnotated };
}

type Api = Pick<ActionDeps, 'kubernetes'>;

/**
 * Deletes exactly the resources that this repair made, recorded or not. Each is deleted by its UID; one that is gone
 * already is no error.
 *
 * @throws {RetryableError} if one may be there whose kind is not served (I6)
 */
export async function deleteRemediations(
  deps: Api,
  node: Pick<NodeView, 'uid'>,
  { resources = [], mayHaveMade = [] }: Pick<RepairLeftovers, 'resources' | 'mayHaveMade'>,
): Promise<void> {
  const made = [...resources];
  for (const name of mayHaveMade) {
    const found = await findInAnyVersion(deps.kubernetes, refOf(name));
    if (found.kind === 'notServed') await throwIfDefined(deps, name);
    else if (found.kind === 'there' && isOfNode(found.object, node))
      made.push({ ...name, uid: found.object.metadata.uid });
  }
  for (const each of made) {
    const answer = await deleteExactly(deps.kubernetes, refOf(each), each.uid);
    if (answer === 'notServed') await throwIfDefined(deps, each);
  }
}

/** Throws if the kind is defined but not served. Without its definition, all objects of the kind are gone. */
async function throwIfDefined(deps: Api, name: Omit<MadeResource, 'uid'>): Promise<void> {
  const { type } = refOf(name);
  if (await isNotServed(deps, type, type)) throw new RetryableError(notServed(type), { reason: NOT_PASSING });
}

type Described = Pick<Context, 'attempt' | 'node' | 'claim' | 'pool' | 'pods' | 'message' | 'deps'>;

/**
 * The resource that the template describes for this attempt: Go's text/template over the data of a drain template, so
 * that one template can serve both, and over what is known of the repair. Without a name of its own the object is named
 * after the node.
 */
async function renderManifest(context: Described, template: string): Promise<DescribedResource> {
  const nodeName = context.node.name;
  const described = await readDescribedResource(context.deps.kubernetes, {
    key: template,
    render: text => renderRepairObject(text, dataOf(context), textsOf(context)),
    metadataOf: given => ({ ...given, name: textOrEmpty(given['name']) || nodeName }),
  });
  if (described.kind !== 'served') return described;
  const { manifest } = described;
  const annotations = { ...manifest.metadata.annotations, [ANNOTATIONS.repairedNode]: nodeName };
  return { ...described, manifest: { ...manifest, metadata: { ...manifest.metadata, annotations } } };
}

/** The reason of the condition that the attempt is about; empty: it states none. */
const reasonOf = ({ attempt, node }: Described): string =>
  node.conditions.find(({ type }) => type === attempt.dueCondition.conditionType)?.reason ?? '';

function dataOf(described: Described): DrainTemplateData {
  const { attempt, node, pods, message } = described;
  const { conditionType } = attempt.dueCondition;
  const reason = reasonOf(described);
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
    errorCode: reason === '' ? [] : [reason],
    entitiesImpacted: [],
    metadata: node.providerID === undefined ? {} : { providerID: node.providerID },
    generatedTimestamp: { seconds: Math.floor(attempt.dueCondition.lastTransitionTime / 1000), nanos: 0 },
    quarantineOverrides: undefined,
    drainOverrides: undefined,
    processingStrategy: 1,
  };
  return { event, podsToDrain: podsToDrain(pods) };
}

function textsOf(described: Described): Readonly<Record<string, string>> {
  const { attempt, node, claim, pool } = described;
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
    ConditionReason: reasonOf(described),
  };
}
