/** Asks a controller for the drain by a custom resource: notes it down, makes it, waits for it, gives it up. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RUN_ENDS_WITHIN } from '../../shared/domain/run-end.ts';
import { addDuration, earliest } from '../../shared/domain/time.ts';
import { isRefused, type RefusedChange } from '../../shared/lifecycle/refusals.ts';
import { anotherTurn, PROGRESSED, type Turn } from '../../shared/lifecycle/settle.ts';
import type { DrainContext } from './context.ts';
import { createResource, deleteResource } from './custom-resource.ts';
import { finish } from './drain-end.ts';
import type { ObservedDrain } from './observe.ts';
import type { ActiveDrain, CustomProgress } from './record.ts';
import { reportFallBack, reportNotices, reportResourceCreated, reportStuck } from './report.ts';
import { fail } from './rule/custom-drain.ts';
import type { DecisionOf } from './rule/decision.ts';
import { podCriteriaOf } from './rule/pod-plan.ts';
import { podDrainability } from './rule/pods.ts';
import { withSafetyNet } from './rule/progress.ts';
import { save } from './save.ts';
import { endUnchangedTurn, tryChange } from './try-change.ts';

type ResourceDecision = DecisionOf<'recordResource' | 'createResource' | 'awaitResource' | 'fallBack'>;

/** Carries out what was decided on the custom resource of a drain. */
export async function applyCustom(
  context: DrainContext,
  decision: ResourceDecision,
  observed: ObservedDrain,
): Promise<Turn> {
  switch (decision.kind) {
    case 'recordResource':
      return recordResource(decision.active, decision.resource, observed);
    case 'createResource':
      return create(context, decision, observed);
    case 'awaitResource':
      return wait(context, decision, observed);
    case 'fallBack':
      return fallBack(context, decision, observed);
  }
}

async function recordResource(active: ActiveDrain, resource: CustomProgress, observed: ObservedDrain): Promise<Turn> {
  const record = { ...observed.record, active: { ...active, phase: { kind: 'custom', resource } as const } };
  const saved = await save(observed, record, addDuration(observed.now, RUN_ENDS_WITHIN));
  return saved.written ? PROGRESSED : saved;
}

async function create(
  context: DrainContext,
  { active, resource: custom }: DecisionOf<'createResource'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const { deps } = context;
  const { configuration, template } = observed;
  const settings = configuration?.settings.customDrain;
  if (configuration === undefined || settings === undefined || template === undefined)
    return anotherTurn('the configuration changed');
  const podsOf = podCriteriaOf(active, configuration, observed.node);
  const pods = observed.pods.filter(pod => podDrainability(pod, podsOf, observed.now).kind === 'counts');
  const made = await tryChange(context, observed, 'createResource', () =>
    createResource(deps, { settings, template, active, custom, node: observed.node, pods }),
  );
  if (isRefused(made)) return endUnchangedTurn(observed, made);
  switch (made.kind) {
    case 'exists':
      return anotherTurn(`${custom.kind} ${custom.name} exists`);
    case 'failed': {
      const decision = fail(active, settings, { reason: made.reason, message: made.message, left: [] });
      if (decision.kind === 'fallBack') return fallBack(context, decision, observed);
      if (decision.kind !== 'finish') return anotherTurn('the custom drain changed');
      return finish(context, decision, observed);
    }
    case 'created': {
      const resource = { ...custom, uid: made.uid };
      await reportResourceCreated(context, observed, active, { resource, pods: pods.length });
      return recordResource(active, resource, observed);
    }
  }
}

async function wait(
  context: DrainContext,
  decision: DecisionOf<'awaitResource'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const { active, reason, message, until, isStuck } = decision;
  const notice = { ...NOTICES[reason], message };
  const unread = await recordReadFailure(context, observed);
  // A read that keeps failing is reported like a refusal: hourly, by `recordReadFailure`.
  const reported = unread
    ? active.reported
    : await reportNotices(context, observed, [notice], { reported: active.reported });
  const reportedDrain = isStuck ? await reportStuck(context, observed, active, [notice]) : active;
  const next: ActiveDrain = { ...reportedDrain, reported };
  const wakeTime = withSafetyNet(observed, earliest(until, unread?.until));
  return save(observed, { ...observed.record, active: next }, wakeTime, { redeliveryError: unread?.redeliveryError });
}

/** Key of the refusal to read the custom resource. */
const READ_RESOURCE = 'readResource';

const NOTICES = {
  ResourceNotServed: { type: 'Warning', reason: EVENT_REASONS.customDrainNotServed },
  ResourceNotKnown: { type: 'Warning', reason: EVENT_REASONS.awaitingCustomDrain },
  AwaitingCustomDrain: { type: 'Normal', reason: EVENT_REASONS.awaitingCustomDrain },
} as const;

/** Records and reports that the custom resource could not be read, or forgets that. @returns the refusal, if it could not be read */
async function recordReadFailure(context: DrainContext, observed: ObservedDrain): Promise<RefusedChange | undefined> {
  const { readFailure, backoff } = observed;
  if (readFailure === undefined) {
    backoff.forget(READ_RESOURCE);
    return undefined;
  }
  const read = await tryChange(context, observed, READ_RESOURCE, () => Promise.reject(readFailure));
  return isRefused(read) ? read : undefined;
}

async function fallBack(
  context: DrainContext,
  { active, because }: DecisionOf<'fallBack'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const deleted = await tryChange(context, observed, 'deleteResource', () => deleteResource(context.deps, active));
  if (isRefused(deleted)) return endUnchangedTurn(observed, deleted);
  const message = `${because.reason}: ${because.message}`;
  // Without a custom drain in the configuration the modes take over, until there is one again.
  const isConfigured = observed.configuration?.settings.customDrain !== undefined;
  const phase = isConfigured ? ({ kind: 'fallback', because: message } as const) : ({ kind: 'draining' } as const);
  const next: ActiveDrain = { ...active, phase };
  const saved = await save(observed, { ...observed.record, active: next }, addDuration(observed.now, RUN_ENDS_WITHIN));
  if (!saved.written) return saved;
  await reportFallBack(context, observed, active, message);
  return PROGRESSED;
}
