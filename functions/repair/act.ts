/**
 * Carries the intended attempts of a pass out. Each is looked at once more, Node and NodeClaim, under the rules as they are by then; every call
 * carries the UID, so that another object of that name is never reached (I10). A termination writes to its NodeClaim: that the version which
 * the pass has listed is still the live one is the write's precondition, and no read (ADR 0023).
 */
import { fewAtATime, inParallel } from '../../shared/cluster/in-parallel.ts';
import { loadPodsOnNode } from '../../shared/cluster/protected-pods.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import { readNode, REPLACES_ANNOTATION } from '../../shared/domain/node.ts';
import { isToBeSaid, refusedAgain, textOfRefusal, type Refusal, type Refusals } from '../../shared/domain/refusal.ts';
import { type EpochMs, addDuration, earliest, seconds } from '../../shared/domain/time.ts';
import { messageOf } from '../../shared/errors.ts';
import { causeOf } from '../../shared/lifecycle/refusals.ts';
import type { StepOutcome } from '../../shared/lifecycle/steps.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';
import type { ActionContext, Made } from './actions/action.ts';
import { createRemediation } from './actions/custom-resource.ts';
import { requestDrain } from './actions/drain.ts';
import { endRemediations } from './actions/made-resources.ts';
import { drainBeforeReboot, reboot } from './actions/reboot.ts';
import { launchReplacement } from './actions/replace.ts';
import { terminate } from './actions/terminate.ts';
import { accepted, poolAfter, settledTime, withoutAttempt } from './rule/attempt.ts';
import type { Granted } from './rule/decide.ts';
import type { Carried, Outcome, PassDeps } from './deps.ts';
import { illsOf } from './rule/illness.ts';
import { allRungsOf, isBeforeReboot, keyOf, mayPass, rungsOf, turnOf } from './rule/ladder.ts';
import type { PassObservation } from './look.ts';
import { readableSettings } from './rule/node-verdict.ts';
import { type PoolRules, loadRules, readClaim } from './observe.ts';
import type { Speaker } from './say.ts';
import type { Attempt, NodeRecord, Ours, PoolRecord } from './rule/record.ts';
import { takeBack } from './take-back.ts';
import { FOLLOW_CHECK } from './rule/times.ts';
import { dueOf } from './rule/turn.ts';
import type { NodeLook } from './rule/verdict.ts';

/** A replacement was launched: nobody tells when its instance is there. */
const REPLACEMENT_CHECK = seconds(30);
/** What was not carried out is looked at again, and others may take its place. */
const AT_ONCE = seconds(1);

interface CarryOutContext {
  readonly pool: string | undefined;
  /** As the pass has read them. */
  readonly rules: PoolRules;
  readonly claims: readonly NodeClaimView[];
  readonly asked: ReadonlyMap<string, string>;
  /** Their places are reserved in the limits of zone and cluster. */
  readonly isCounted: boolean;
}

/** @param intended each with the record that has its intent. Answers what came of each, in no particular order */
export async function carryOut(
  deps: PassDeps,
  intended: readonly { readonly granted: Granted; readonly record: NodeRecord }[],
  context: CarryOutContext,
): Promise<readonly Carried[]> {
  if (intended.length === 0) return [];
  // Read together with the first nodes, each of which awaits it.
  const rules = loadRules(deps, context.pool, context.rules);
  const claims = new Map<string | undefined, NodeClaimView>(context.claims.map(claim => [claim.uid, claim]));
  const carried: Carried[] = [];
  const launches = intended.filter(({ granted }) => granted.attempt.action === 'Replace');
  const living = context.claims.filter(({ deletionTime }) => deletionTime === undefined);
  const unlaunched = living.filter(
    each => each.annotations[REPLACES_ANNOTATION] !== undefined && each.providerID === undefined,
  );
  await fewAtATime(intended, async ({ granted, record }) => {
    let made: Made = {};
    const note: ActionContext['note'] = change => {
      made = change;
    };
    try {
      // Those of this pass count, whichever is made first.
      const before = Math.max(
        0,
        launches.findIndex(each => each.granted === granted),
      );
      const room = { claims: living.length + before, unknown: unlaunched.length + before };
      const shared = { ...context, rules, note, room };
      const listed = granted.attempt.action === 'Terminate' ? claims.get(granted.attempt.claim?.uid) : undefined;
      const outcome =
        (listed && (await actOn(deps, { granted, record }, shared, listed))) ??
        (await actOn(deps, { granted, record }, shared));
      carried.push({ granted, record, made, outcome: outcome ?? { kind: 'calledOff', why: 'it changed' } });
    } catch (error) {
      carried.push({ granted, record, made, outcome: { kind: 'unknown', error } });
    }
  });
  return carried;
}

interface ActContext extends Omit<CarryOutContext, 'rules'> {
  readonly rules: Promise<PoolRules>;
  readonly note: ActionContext['note'];
  readonly room: ActionContext['room'];
}

/** @param listed the NodeClaim as the pass has listed it; answers undefined when a read must tell more. Without it, it is read. */
async function actOn(
  deps: PassDeps,
  { granted, record }: { readonly granted: Granted; readonly record: NodeRecord },
  { rules: wanted, pool, asked, isCounted, note, room }: ActContext,
  listed?: NodeClaimView,
): Promise<Outcome | undefined> {
  const { attempt, look, message, rung } = granted;
  const { claim: reserved } = attempt;
  const [rules, nodeAnswer, claim, pods] = await inParallel([
    wanted,
    deps.kubernetes.get({ type: RESOURCES.Node, name: look.node.name }),
    listed ?? (reserved && readClaim(deps, reserved.name)),
    attempt.action === 'Drain' ? [] : loadPodsOnNode(deps, look.node.name),
  ]);
  const nodeObject = objectOf(nodeAnswer, { notServed: 'notKnown' });
  const calledOff = (why: string): Outcome => ({ kind: 'calledOff', why });
  if (nodeObject?.metadata.uid !== look.node.uid) return calledOff('the Node is gone');
  if (claim?.uid !== reserved?.uid) return calledOff('the NodeClaim is gone');
  const node = readNode(nodeObject);
  const now = deps.clock.now();
  const settings = readableSettings(rules.rules);
  const owner = ownerOf(node, indexOwners([node], claim === undefined ? [] : [claim]));
  const ills = settings === undefined ? [] : illsOf(node, { now, settings, record });
  const seen = { now, node, owner, rules: rules.rules, ills, episodes: record.episodes, asked: asked.get(node.name) };
  const decision = deps.decideNode(seen);
  if (listed !== undefined && decision.kind !== 'due') return undefined;
  if (decision.kind !== 'due' && decision.kind !== 'finishing') return calledOff(decision.message);
  if (rules.rules.mode === 'Observe') return calledOff('mode is Observe by now');
  // Limits came into force since: it is not certain that this repair is counted.
  if (rules.rules.limits !== undefined && !isCounted) return calledOff('repairs are limited by now');
  // Somebody else terminates it forcefully by now.
  if (decision.kind === 'finishing') return { kind: 'accepted', pods: [], attempt, isOther: true };
  const isListed = rungsOf(decision.terms, claim?.terminationGracePeriod).some(each => keyOf(each) === attempt.key);
  const action = isListed ? actionOf(attempt, rung.template) : undefined;
  if (action === undefined) return calledOff(`repair.actions has no such ${attempt.action} by now`);

  // Another entry decides by now, and asks what EC2 says.
  if (decision.terms.confirm !== dueOf(look)?.decision.terms.confirm) return calledOff('EC2 has yet to confirm it');

  const { ours, acts } = record;
  const outcome = await orRefusal(async () => {
    if (ours?.resources !== undefined) await endRemediations(deps, ours);
    return await action({
      deps,
      now,
      ours,
      acts,
      node,
      claim,
      pool,
      nodePool: rules.pool,
      room,
      pods,
      message,
      note,
    });
  });
  if (outcome.kind === 'done') {
    return { kind: 'accepted', pods, attempt: { ...attempt, until: addDuration(deps.clock.now(), rung.timeout) } };
  }
  if (outcome.kind === 'failed') {
    return { kind: 'refused', why: outcome.message, reason: outcome.reason, cause: 'request' };
  }
  if (outcome.kind === 'refused') return outcome;
  if (listed !== undefined) return undefined;
  // A NodeClaim that changed in between is looked at again at once, as if nothing had been tried.
  if (attempt.action === 'Terminate' && claim !== undefined) return calledOff(outcome.on);
  return { kind: 'refused', why: outcome.on, reason: 'ActionRefused', cause: 'passing' };
}

/** What the API server or EC2 certainly refuses is an answer; whatever may have taken effect is thrown. */
async function orRefusal(
  act: () => Promise<StepOutcome>,
): Promise<StepOutcome | Extract<Outcome, { kind: 'refused' }>> {
  try {
    return await act();
  } catch (error) {
    const cause = causeOf(error);
    if (cause === undefined || cause === 'passing') throw error;
    return { kind: 'refused', why: messageOf(error), reason: 'ActionRefused', cause };
  }
}

/** undefined: its list has no template any more. */
function actionOf(
  attempt: Attempt,
  template: string | undefined,
): ((context: Omit<ActionContext, 'attempt'>) => Promise<StepOutcome>) | undefined {
  switch (attempt.action) {
    case 'Terminate':
      return context => terminate({ ...context, attempt });
    case 'Reboot':
      return context => reboot({ ...context, attempt });
    case 'Drain':
      return context => (isBeforeReboot(attempt) ? drainBeforeReboot : requestDrain)({ ...context, attempt });
    case 'Replace':
      return context => launchReplacement({ ...context, attempt });
    case 'CustomResource':
      return template === undefined ? undefined : context => createRemediation({ ...context, attempt }, template);
  }
}

export interface Outcomes {
  /** What could not be taken back. */
  readonly failures: readonly unknown[];
  /** By UID: the look after its act. */
  readonly looks: ReadonlyMap<string, (look: NodeLook) => NodeLook>;
  readonly time: EpochMs | undefined;
  readonly pool: (state: PoolRecord, looks: readonly NodeLook[]) => PoolRecord;
}

export async function withOutcomes(
  deps: PassDeps,
  carried: readonly Carried[],
  seen: PassObservation,
  speaker: Speaker,
): Promise<Outcomes> {
  const looks = new Map<string, (look: NodeLook) => NodeLook>();
  const failures: unknown[] = [];
  let time: EpochMs | undefined;
  for (const each of carried) {
    const after = await afterAct(deps, each, seen, speaker);
    if (after.failure !== undefined) failures.push(after.failure.error);
    time = earliest(time, after.time);
    looks.set(each.granted.look.node.uid, look => ({ ...look, ...after.change }));
  }
  return { looks, time, failures, pool: (state, all) => poolAfter(state, carried, all, deps.clock.now()) };
}

interface After {
  readonly change: Partial<NodeLook>;
  readonly time?: EpochMs | undefined;
  readonly failure?: { readonly error: unknown } | undefined;
}

async function afterAct(
  deps: PassDeps,
  { granted, record, made, outcome }: Carried,
  seen: PassObservation,
  speaker: Speaker,
): Promise<After> {
  const { look, attempt, rungs } = granted;
  const now = deps.clock.now();
  const settings = readableSettings(seen.rules.rules);
  const allRungs = settings ? allRungsOf(settings) : rungs;
  const withMade: NodeRecord =
    Object.keys(made).length === 0 ? record : { ...record, ours: madeInto(record.ours, made) };
  const before = look.record ?? record;
  /** Should it not have been acted on. */
  const asBefore = before.attempt === undefined ? 'followed' : 'inFlight';
  switch (outcome.kind) {
    case 'accepted': {
      // What somebody else does is none of our acts.
      const next =
        outcome.isOther === true ? { ...before, attempt: undefined } : accepted(withMade, outcome.attempt, allRungs);
      return {
        change: { record: next },
        time: addDuration(now, attempt.action === 'Replace' ? REPLACEMENT_CHECK : FOLLOW_CHECK),
      };
    }
    case 'unknown': {
      const time = settledTime(attempt);
      const cause = attempt.action === 'Terminate' ? causeOf(outcome.error) : undefined;
      if (cause === undefined) return { change: { record: withMade }, time };
      // It may have taken effect, and is tried again where it has not: ever less often, as what is refused.
      const failed = { why: messageOf(outcome.error), reason: 'ActionRefused', cause, isCertain: false } as const;
      const { refusals } = await sayRefused({ granted, before }, failed, seen, { speaker, now });
      return { change: { record: { ...withMade, refusals } }, time };
    }
    case 'calledOff': {
      const kept: NodeRecord = {
        ...before,
        number: record.number,
        ours: dueOf(look)?.stale ? record.ours : before.ours,
      };
      return { change: { record: kept, verdict: undefined, state: asBefore }, time: addDuration(now, AT_ONCE) };
    }
    case 'refused': {
      const { key } = attempt;
      const { basis, isPassed, keepsTurn, refusals } = await sayRefused({ granted, before }, outcome, seen, {
        speaker,
        now,
      });
      const over = withoutAttempt({ ...before, attempt }, attempt);
      const ours = { ...record.ours, ...over.ours };
      const { illness } = over;
      const undone: NodeRecord = {
        ...over,
        ours,
        number: record.number,
        ...(record.launched !== undefined && { launched: record.launched }),
        ...(isPassed
          ? { illness: illness && { ...illness, passed: [...new Set([...(illness.passed ?? []), key])] } }
          : { refusals }),
        attempt: before.attempt,
      };
      const live = attempt.claim && undone.ours?.annotation ? await readClaim(deps, attempt.claim.name) : undefined;
      const claims = new Map(live === undefined ? [] : [[live.uid, live]]);
      const say = (text: string, isRepeated: boolean) => speaker.sayLeft(look.node, text, isRepeated);
      let failure: After['failure'];
      const left = keepsTurn
        ? { record: undone }
        : await takeBack(deps, look.node, undone, {
            claims,
            say,
            sayEnded: (replacement, end) => speaker.sayReplacement(look.node, replacement, end),
          }).catch((error: unknown) => {
            failure = { error };
            return { record: undone };
          });
      const turn = turnOf(
        {
          rungs,
          taken: undone.illness?.taken ?? [],
          acts: undone.acts,
          refusals: undone.refusals,
          basis,
          passed: undone.illness?.passed,
          launchesFrom: seen.state.launchPause?.until,
          hasClaim: attempt.claim !== undefined,
        },
        now,
      );
      const change = {
        record: left.record,
        verdict: undefined,
        state: turn.kind === 'next' ? asBefore : 'followed',
      } as const;
      // Its place is free: others look at once.
      const time = earliest(turn.kind === 'next' ? undefined : turn.until, addDuration(now, AT_ONCE));
      return { change, time, failure };
    }
  }
}

interface Failed extends Pick<Extract<Outcome, { kind: 'refused' }>, 'cause' | 'why' | 'reason'> {
  /** False: it may have taken effect, and is said only when it lasts. */
  readonly isCertain?: boolean;
}

/** Says that an act was not carried out, where that is news, and what is to be remembered of it. */
async function sayRefused(
  { granted, before }: { readonly granted: Granted; readonly before: NodeRecord },
  { cause, why, reason, isCertain = true }: Failed,
  seen: PassObservation,
  { speaker, now }: { readonly speaker: Speaker; readonly now: EpochMs },
) {
  const { look, attempt, rung } = granted;
  const { key } = attempt;
  const basis = seen.basisOf(attempt.claim && seen.claims.get(attempt.claim.uid));
  const next = refusedAgain(before.refusals?.[key], { cause, message: why, basis, now });
  const isSaid = isToBeSaid(next, now, isCertain);
  const keepsTurn = mayPass(next, rung) && before.attempt === undefined;
  // What cannot be launched is passed over: the pool's pause says when it may be again.
  const isPassed = attempt.action === 'Replace' && !keepsTurn;
  const text = isPassed ? why : textOfRefusal(next);
  const isKnown = isSaidAlready(before.refusals, key, next, now);
  if (isSaid)
    await speaker.sayRefused(
      { node: look.node, attempt, reason, text },
      { isRepeated: next.saidTime !== undefined, isKnown },
    );
  const refusals = { ...before.refusals, [key]: isSaid ? { ...next, saidTime: now } : next };
  return { basis, keepsTurn, isPassed, refusals };
}

/** Another action of the list was refused with the same words within the hour (I11). */
const isSaidAlready = (refusals: Refusals | undefined, key: string, { message }: Refusal, now: EpochMs): boolean =>
  Object.entries(refusals ?? {}).some(
    ([other, refusal]) => other !== key && refusal.message === message && !isToBeSaid(refusal, now, true),
  );

const madeInto = (ours: Ours | undefined, made: Pick<Ours, 'resources' | 'mayHaveMade'>): Ours => {
  const { mayHaveMade: _, ...rest } = ours ?? {};
  return { ...rest, ...made };
};
