/**
 * Carries the reserved attempts of a pass out. Each is looked at once more, Node and NodeClaim, under the rules as they are by then;
 * every call carries the UID, so that another object of that name is never reached (I10). A termination writes to its NodeClaim: that
 * the version which the pass has listed is still the live one is the write's precondition, and no read (ADR 0023).
 */
import { fewAtATime, inParallel } from '../../../shared/cluster/in-parallel.ts';
import { loadPodsOnNode } from '../../../shared/cluster/protected-pods.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { readNode } from '../../../shared/domain/node.ts';
import { indexOwners, ownerOf } from '../../../shared/domain/node-owner.ts';
import { orRefused } from '../../../shared/lifecycle/refusals.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import type { ObjectEvent } from '../../../shared/ports/event-recorder.ts';
import type { Action, ActionContext, Made } from '../actions/action.ts';
import { createRemediation } from '../actions/custom-resource.ts';
import { requestDrain } from '../actions/drain.ts';
import { endRemediations } from '../actions/made-resources.ts';
import { reboot, terminate } from '../actions/terminate.ts';
import type { PoolRules } from '../observation.ts';
import { loadRules } from '../observe.ts';
import type { Place } from '../report.ts';
import { rungsOf } from './attempts.ts';
import type { PassObservation } from './decision.ts';
import type { PassDeps } from './deps.ts';
import { readClaim, refuse, refusedByServer, type Refusal } from './refusals.ts';
import type { Verdict } from './verdict.ts';
import type { RepairAttempt } from './pool.ts';
import { noteAct } from './say.ts';
import { withdraw } from './take-back.ts';
import { objectOf } from '../../../shared/ports/read-answer.ts';

type Granted = Extract<Verdict, { kind: 'repair' }>;

export type Outcome =
  | { readonly kind: 'accepted' }
  | Refusal
  /** Some call failed: the next pass finds out what happened. */
  | { readonly kind: 'unknown'; readonly error: unknown };

export interface Carried {
  readonly attempt: RepairAttempt;
  readonly previous: RepairAttempt | undefined;
  readonly made: Made;
  readonly outcome: Outcome;
}

interface Context {
  readonly pool: string | undefined;
  readonly place: Place;
  readonly episodes: PassObservation['episodes'];
  /** As the pass has read them. */
  readonly rules: PoolRules;
  readonly claims: readonly NodeClaimView[];
  /** Their places are reserved in the limits of zone and cluster. */
  readonly isCounted: boolean;
}

/** Answers what came of each attempt, in no particular order. An act whose call failed is `unknown`, not an error. */
export async function carryOut(
  deps: PassDeps,
  granted: readonly Granted[],
  context: Context,
): Promise<readonly Carried[]> {
  // Read together with the first nodes.
  const rules = loadRules(deps, context.pool, context.rules);
  const claims = new Map<string | undefined, NodeClaimView>(context.claims.map(claim => [claim.uid, claim]));
  const carried: Carried[] = [];
  // Recorded once all acts are done: the last node is due as the first one is.
  const events: ObjectEvent[] = [];
  await fewAtATime(granted, async verdict => {
    const { attempt, previous } = verdict;
    let made: Made = {};
    const note: ActionContext['note'] = change => {
      made = change;
    };
    try {
      const parts = { ...context, rules, events, note };
      const listed = attempt.action === 'Terminate' ? claims.get(attempt.claim?.uid) : undefined;
      const outcome =
        (listed && (await carryOutOne(deps, verdict, parts, listed))) ?? (await carryOutOne(deps, verdict, parts));
      carried.push({ attempt, previous, made, outcome });
    } catch (error) {
      carried.push({ attempt, previous, made, outcome: { kind: 'unknown', error } });
    }
  });
  await fewAtATime(events, event => deps.events.record(event));
  return carried;
}

interface Parts extends Omit<Context, 'rules'> {
  readonly rules: Promise<PoolRules>;
  readonly events: ObjectEvent[];
  readonly note: ActionContext['note'];
}

async function carryOutOne(deps: PassDeps, granted: Granted, parts: Parts): Promise<Outcome>;
/** @param listed the NodeClaim as the pass has listed it; answers undefined when a read must tell more. Without it, it is read. */
async function carryOutOne(
  deps: PassDeps,
  granted: Granted,
  parts: Parts,
  listed: NodeClaimView,
): Promise<Outcome | undefined>;
async function carryOutOne(
  deps: PassDeps,
  { attempt, previous, message }: Granted,
  { rules: wanted, pool, place, episodes, isCounted, events, note }: Parts,
  listed?: NodeClaimView,
): Promise<Outcome | undefined> {
  const { claim: reserved, node: named } = attempt;
  const [rules, nodeAnswer, claim, pods] = await inParallel([
    wanted,
    deps.kubernetes.get({ type: RESOURCES.Node, name: named.name }),
    listed ?? (reserved && readClaim(deps, reserved.name)),
    attempt.action === 'Drain' ? [] : loadPodsOnNode(deps, named.name),
  ]);
  const nodeObject = objectOf(nodeAnswer, { notServed: 'notKnown' });
  const calledOff = async (why: string): Promise<Outcome> => {
    // An attempt before this one may have left its annotation.
    const refused = previous === undefined ? await orRefused(withdraw(deps, attempt, claim)) : undefined;
    return refused === undefined ? { kind: 'calledOff', why } : refusedByServer(deps, refused, attempt, place);
  };
  if (nodeObject?.metadata.uid !== named.uid) return calledOff('the Node is gone');
  if (claim?.uid !== reserved?.uid) return calledOff('the NodeClaim is gone');
  const node = readNode(nodeObject);
  const now = deps.clock.now();
  const owner = ownerOf(node, indexOwners([node], claim === undefined ? [] : [claim]));
  const escalates = attempt.escalates === true ? attempt.incident : undefined;
  const seen = { now, node, owner, rules: rules.rules, episodes: episodes.get(node.uid) ?? [], escalates };
  const decision = deps.decide(seen);
  if (listed !== undefined && decision.kind !== 'due') return undefined;
  if (decision.kind !== 'due' && decision.kind !== 'finishing') return calledOff(decision.message);
  if (rules.rules.mode === 'Observe') return calledOff('mode is Observe by now');
  // Limits came into force since: it is not certain that this repair is counted.
  if (rules.rules.limits !== undefined && !isCounted) return calledOff('repairs are limited by now');
  // Somebody else terminates it forcefully by now.
  if (decision.kind === 'finishing') return { kind: 'accepted' };
  const action = actionOf(attempt, rules);
  if (action === undefined) return calledOff(`repair.actions has no such ${attempt.action} by now`);

  const act = async (): Promise<StepOutcome> => {
    if (attempt.resources !== undefined) await endRemediations(deps, attempt);
    return await action.run({ deps, now, attempt, node, claim, pool, pods, message, note });
  };
  const outcome = await orRefused(act());
  if (outcome.kind === 'refused') return refusedByServer(deps, outcome, attempt, place);
  if (outcome.kind === 'done') {
    events.push(...(await noteAct(deps, { attempt, message, place, pods, rules })));
    return { kind: 'accepted' };
  }
  if (listed !== undefined && outcome.kind === 'notYet') return undefined;
  return refuse(deps, outcome, attempt, place);
}

/** The action at the attempt's place; undefined when the block was edited in between. */
function actionOf({ action, rung }: RepairAttempt, { rules }: PoolRules): Action | undefined {
  switch (action) {
    case 'Terminate':
      return terminate;
    case 'Reboot':
      return reboot;
    case 'Drain':
      return requestDrain;
    case 'CustomResource': {
      const { settings } = rules;
      if (settings === undefined || 'invalid' in settings) return undefined;
      const template = rungsOf(settings)[rung]?.template;
      return template === undefined ? undefined : createRemediation(template);
    }
  }
}
