/** What is remembered of a pass's acts, in the records of their nodes and of the pool, and what is said of those that were refused. */
import { isToBeSaid, refusedAgain, textOfRefusal, type Refusal, type Refusals } from '../../shared/domain/refusal.ts';
import { type EpochMs, addDuration, earliest, seconds } from '../../shared/domain/time.ts';
import { messageOf } from '../../shared/errors.ts';
import { causeOf } from '../../shared/lifecycle/refusals.ts';
import { accepted, settledTime, withoutAttempt } from './rule/attempt.ts';
import type { Granted } from './rule/decide.ts';
import type { Carried, Outcome, PassDeps } from './deps.ts';
import { failureOf, withoutUndone } from './rule/guards.ts';
import { allRungsOf, mayPass, turnOf } from './rule/ladder.ts';
import { nextPause } from './rule/replacement.ts';
import type { PassObservation } from './look.ts';
import { readableSettings } from './rule/node-verdict.ts';
import { readClaim } from './observe.ts';
import type { Speaker } from './say.ts';
import type { AttemptOf, NodeRecord, Ours, PoolRecord } from './rule/record.ts';
import { takeBack } from './take-back.ts';
import type { NodeLook } from './rule/verdict.ts';

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
  const isInFlight = before.attempt !== undefined;
  switch (outcome.kind) {
    case 'accepted': {
      // What somebody else does is none of our acts.
      const next =
        outcome.isOther === true ? { ...before, attempt: undefined } : accepted(withMade, outcome.attempt, allRungs);
      return { change: { record: next }, time: addDuration(now, seconds(attempt.action === 'Replace' ? 30 : 300)) };
    }
    case 'unknown': {
      const cause = attempt.action === 'Terminate' ? causeOf(outcome.error) : undefined;
      if (cause === undefined) return { change: { record: withMade }, time: settledTime(attempt) };
      // It may have taken effect, and is tried again where it has not: ever less often, as what is refused.
      const failed = { why: messageOf(outcome.error), reason: 'ActionRefused', cause, isCertain: false } as const;
      const { refusals } = await sayRefused({ granted, before }, failed, seen, { speaker, now });
      return { change: { record: { ...withMade, refusals } }, time: settledTime(attempt) };
    }
    case 'calledOff': {
      const kept: NodeRecord = { ...before, number: record.number, ours: look.due?.stale ? record.ours : before.ours };
      return { change: { record: kept, verdict: undefined, isInFlight }, time: addDuration(now, seconds(1)) };
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
      const change = { record: left.record, verdict: undefined, isInFlight: isInFlight && turn.kind === 'next' };
      // Its place is free: others look at once.
      const time = earliest(turn.kind === 'next' ? undefined : turn.until, addDuration(now, seconds(1)));
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
    ([other, refusal]) =>
      other !== key && refusal.message === message && refusal.saidTime !== undefined && !isToBeSaid(refusal, now, true),
  );

const madeInto = (ours: Ours | undefined, made: Pick<Ours, 'resources' | 'mayHaveMade'>): Ours => {
  const { mayHaveMade: _, ...rest } = ours ?? {};
  return { ...rest, ...made };
};

const terminationOf = (node: string, { incident, time, replacement }: AttemptOf<'Terminate'>) => ({
  condition: failureOf(incident),
  time,
  node,
  ...(replacement && { isReplaced: true as const }),
});

function poolAfter(
  state: PoolRecord,
  carried: readonly Carried[],
  looks: readonly NodeLook[],
  now: EpochMs,
): PoolRecord {
  const hasFailed = carried.some(
    ({ granted, outcome }) =>
      granted.attempt.action === 'Replace' && outcome.kind === 'refused' && outcome.cause !== 'passing',
  );
  const hasReplaced = carried.some(
    ({ granted: { attempt }, outcome }) =>
      outcome.kind === 'accepted' && attempt.action === 'Terminate' && attempt.replacement !== undefined,
  );
  const undone = carried.filter(({ outcome }) => outcome.kind === 'calledOff' || outcome.kind === 'refused');
  const free = new Set(
    looks.flatMap(({ node, isInFlight }) =>
      undone.some(each => each.granted.look.node.uid === node.uid) && !isInFlight ? node.uid : [],
    ),
  );
  const known = new Set(state.terminations.flatMap(({ node }) => node ?? []));
  const terminated = carried.flatMap(({ granted: { attempt, look }, outcome }) =>
    outcome.kind === 'accepted' &&
    outcome.isOther !== true &&
    attempt.action === 'Terminate' &&
    !known.has(look.node.uid)
      ? [terminationOf(look.node.uid, attempt)]
      : [],
  );
  // Those of runs that died before they had counted them.
  const acted = new Set(carried.map(({ granted }) => granted.look.node.uid));
  const uncounted = looks.flatMap(({ node: { uid }, record, lost }) => {
    const attempt = lost ?? (record?.attempt?.phase === 'accepted' ? record.attempt : undefined);
    const isCounted = acted.has(uid) || known.has(uid);
    return isCounted || attempt?.action !== 'Terminate' ? [] : [terminationOf(uid, attempt)];
  });
  const inFlight = Object.fromEntries(Object.entries(state.inFlight).filter(([uid]) => !free.has(uid)));
  const ramp = withoutUndone(state.ramp, undone.length);
  const { ramp: _, launchPause, ...rest } = state;
  const pause = hasFailed ? nextPause(launchPause, now) : hasReplaced ? undefined : launchPause;
  return {
    ...rest,
    ...(pause && { launchPause: pause }),
    ...(ramp && { ramp }),
    inFlight,
    terminations: [...state.terminations, ...uncounted, ...terminated],
    followed: looks.flatMap(({ node: { uid }, isFollowed }) => (isFollowed && !(uid in inFlight) ? uid : [])),
    counts: { ...state.counts, repairing: looks.filter(({ record }) => record?.attempt !== undefined).length },
  };
}
