/** What came of the acts of a pass, as nodes and pool remember it: accepted, called off, refused, or not known yet. */
import { isToBeSaid, refusedAgain, textOfRefusal } from '../../shared/domain/refusal.ts';
import { addDuration, earliest, seconds, type EpochMs } from '../../shared/domain/time.ts';
import type { Carried } from './act.ts';
import type { PassDeps } from './deps.ts';
import { accepted, settledTime, withoutAttempt } from './attempt.ts';
import { readableSettings } from './rules.ts';
import { failureOf } from './futility.ts';
import { allRungsOf, mayPass, turnOf } from './ladder.ts';
import type { Seen } from './look.ts';
import { nextPause } from './launch-pause.ts';
import { readClaim } from './observe.ts';
import { withoutUndone } from './ramp.ts';
import type { Attempt, NodeRecord, Ours, PoolRecord } from './state.ts';
import type { Speaker } from './say.ts';
import { takeBack } from './take-back.ts';
import type { NodeLook } from './verdict.ts';

export interface Outcomes {
  /** By UID: the look after its act. */
  readonly looks: ReadonlyMap<string, (look: NodeLook) => NodeLook>;
  readonly time: EpochMs | undefined;
  readonly pool: (state: PoolRecord, looks: readonly NodeLook[]) => PoolRecord;
}

export async function withOutcomes(
  deps: PassDeps,
  carried: readonly Carried[],
  seen: Seen,
  speaker: Speaker,
): Promise<Outcomes> {
  const looks = new Map<string, (look: NodeLook) => NodeLook>();
  let time: EpochMs | undefined;
  for (const each of carried) {
    const after = await afterAct(deps, each, seen, speaker);
    time = earliest(time, after.time);
    looks.set(each.granted.look.node.uid, look => ({ ...look, ...after.change }));
  }
  return { looks, time, pool: (state, all) => poolAfter(state, carried, all, deps.clock.now()) };
}

interface After {
  readonly change: Partial<NodeLook>;
  readonly time?: EpochMs | undefined;
}

async function afterAct(
  deps: PassDeps,
  { granted, record, made, outcome }: Carried,
  seen: Seen,
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
    case 'unknown':
      return { change: { record: withMade }, time: settledTime(attempt) };
    case 'calledOff': {
      const kept: NodeRecord = { ...before, number: record.number, ours: look.due?.stale ? record.ours : before.ours };
      return { change: { record: kept, verdict: undefined, holds: isInFlight }, time: addDuration(now, seconds(1)) };
    }
    case 'refused': {
      const { key } = attempt;
      const claim = attempt.claim && seen.claims.get(attempt.claim.uid);
      const basis = seen.basisOf(claim);
      const next = refusedAgain(before.refusals?.[key], { cause: outcome.cause, message: outcome.why, basis, now });
      const isSaid = next.saidTime === undefined || isToBeSaid(next, now);
      const keepsTurn = mayPass(next, granted.rung) && before.attempt === undefined;
      // What cannot be launched is passed over: the pool's pause says when it may be again.
      const isPassed = attempt.action === 'Replace' && !keepsTurn;
      const text = isPassed ? outcome.why : textOfRefusal(next);
      const refused = { node: look.node, attempt, reason: outcome.reason, text };
      if (isSaid) await speaker.sayRefused(refused, next.saidTime !== undefined);
      const refusals = { ...before.refusals, [key]: isSaid ? { ...next, saidTime: now } : next };
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
      const left = keepsTurn
        ? { record: undone }
        : await takeBack(deps, look.node, undone, {
            claims,
            say,
            sayEnded: (replacement, end) => speaker.sayReplacement(look.node, replacement, end),
          }).catch(() => ({ record: undone }));
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
      const change = { record: left.record, verdict: undefined, holds: isInFlight && turn.kind === 'next' };
      // Its place is free: others look at once.
      return { change, time: earliest(turn.kind === 'next' ? undefined : turn.until, addDuration(now, seconds(1))) };
    }
  }
}

const madeInto = (ours: Ours | undefined, made: Pick<Ours, 'resources' | 'mayHaveMade'>): Ours => {
  const { mayHaveMade: _, ...rest } = ours ?? {};
  return { ...rest, ...made };
};

const terminationOf = (node: string, { incident, time, replacement }: Attempt) => ({
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
  const undone = carried.filter(({ outcome }) => outcome.kind === 'calledOff' || outcome.kind === 'refused');
  const free = new Set(
    looks.flatMap(({ node, holds }) =>
      undone.some(each => each.granted.look.node.uid === node.uid) && !holds ? node.uid : [],
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
    const isCounted = acted.has(uid) || known.has(uid) || attempt?.action !== 'Terminate';
    return isCounted ? [] : [terminationOf(uid, attempt)];
  });
  const inFlight = Object.fromEntries(Object.entries(state.inFlight).filter(([uid]) => !free.has(uid)));
  const hasFailed = undone.some(
    ({ granted, outcome }) =>
      granted.attempt.action === 'Replace' && outcome.kind === 'refused' && outcome.cause !== 'passing',
  );
  const hasReplaced = carried.some(
    ({ granted: { attempt }, outcome }) =>
      outcome.kind === 'accepted' && attempt.action === 'Terminate' && attempt.replacement !== undefined,
  );
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
