/** Carries out what was decided of a node's drains, one turn each. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RUN_ENDS_WITHIN } from '../../shared/domain/run-end.ts';
import { addDuration, earliest, isDue } from '../../shared/domain/time.ts';
import { isRefusal } from '../../shared/lifecycle/refusals.ts';
import { again, DONE, ONWARD, type Turn } from '../../shared/lifecycle/settle.ts';
import { applyCustom } from './apply-custom.ts';
import { carryOutPass } from './carry-out-pass.ts';
import type { DrainDecision, Preparation } from './decision.ts';
import { answer, cancel, close, finish, tidy } from './end.ts';
import { tellAnswers } from './messages.ts';
import type { ActiveDrain, FinishedDrain } from './record.ts';
import { answerNode, disownCordon, prepareNode } from './node.ts';
import type { Look } from './observe.ts';
import { withReturned, type DrainPass } from './pod-plan.ts';
import { formatScope } from './pods.ts';
import { withTried } from './progress.ts';
import { noticesOf, saidStuck, sayNew } from './report.ts';
import {
  after,
  nodeOf,
  notChanged,
  orLater,
  report,
  safely,
  save,
  saveForNow,
  saveUntil,
  shownOn,
  tryChange,
  type NotMade,
  type DrainContext,
} from './context.ts';

type Of<Kind extends DrainDecision['kind']> = Extract<DrainDecision, { kind: Kind }>;

/** Carries a decision out: the Node first, then who asked, then the record. `again` where somebody else wrote meanwhile. */
export async function apply(parts: DrainContext, decision: DrainDecision, look: Look): Promise<Turn> {
  const { run } = parts;
  switch (decision.kind) {
    case 'rest':
      if (decision.until === undefined) return look.store.release();
      return save(look, decision.record, decision.until);
    case 'tidy':
      return tidy(parts, decision, look);
    case 'hide': {
      const shown = await shownOn(parts, look, 'nothing', '');
      return shown === undefined || isRefusal(shown) ? notChanged(look, shown) : ONWARD;
    }
    case 'disownCordon': {
      const changed = await tryChange(parts, look, 'finish', () => disownCordon(parts.deps, look.object));
      return changed.kind === 'ok' ? ONWARD : notChanged(look, changed);
    }
    case 'answer':
      return answer(parts, decision, look);
    case 'take': {
      if (decision.answers !== undefined) {
        const told = await replaced(parts, decision.answers, look);
        if (told.kind !== 'ok') return notChanged(look, told, true);
      }
      const saved = await saveForNow(look, decision.record);
      if (!saved.written) return saved;
      await reportTaken(parts, decision, look);
      return ONWARD;
    }
    case 'cancel':
      return cancel(parts, decision, look);
    case 'hold': {
      const said = `${decision.reason} ${decision.message}`;
      // Said first: a run that dies in between says it again, and once the record has it nobody does.
      if (look.record.reported !== said) {
        await report(parts, look, {
          ...(decision.reason === EVENT_REASONS.kindNotServed
            ? { decision: 'wait', reason: EVENT_REASONS.kindNotServed }
            : { decision: 'hold', reason: EVENT_REASONS.drainHeld }),
          message: decision.message,
          event: { type: 'Warning' },
        });
      }
      const held = { ...look.record, reported: said, heldSince: look.record.heldSince ?? look.now };
      return save(look, held, addDuration(look.now, RUN_ENDS_WITHIN));
    }
    case 'note': {
      const saved = await saveForNow(look, decision.record);
      return saved.written ? ONWARD : saved;
    }
    case 'begin':
      return begin(parts, decision, look);
    case 'start': {
      const saved = await saveForNow(look, decision.record);
      if (!saved.written) return saved;
      await reportStarted(parts, decision.active, look);
      return ONWARD;
    }
    case 'queue':
      return queue(parts, decision, look);
    case 'prepare':
      return prepare(parts, decision, look);
    case 'drain':
      return drain(parts, decision, look);
    case 'finish':
      return finish(parts, decision, look);
    case 'close':
      return isAnothers(run, decision, look) ? DONE : close(parts, decision, look);
    case 'createResource':
    case 'awaitResource':
    case 'fallBack':
      return applyCustom(parts, decision, look);
  }
}

/** Another run ended the drain a moment ago and is about to say so; should it have died, the timer that it set comes. */
const isAnothers = ({ ended }: DrainContext['run'], { active }: Of<'close'>, { now, armed }: Look): boolean =>
  ended !== active.id && armed !== undefined && !isDue(now, armed);

/** Answers the requests that made room for newer ones, before the record forgets them. */
async function replaced(
  parts: DrainContext,
  answers: readonly FinishedDrain[],
  look: Look,
): Promise<Exclude<NotMade, undefined> | { kind: 'ok' }> {
  const changed = orLater(await tryChange(parts, look, 'answer', () => answerNode(parts.deps, look.object, answers)));
  if (changed.kind !== 'ok') return changed;
  await tellAnswers(parts.deps, nodeOf(look), answers);
  for (const { id, status, reason, message } of answers) {
    const details = { id, status, repeated: false };
    await report(parts, look, { decision: 'answer', reason, message: `${status}: ${message}`, details });
  }
  return { kind: 'ok' };
}

async function reportTaken(
  parts: DrainContext,
  { request, how }: Pick<Of<'take'>, 'request' | 'how'>,
  look: Look,
): Promise<void> {
  parts.run.taken = true;
  await report(parts, look, {
    decision: 'take',
    reason: how === 'joins' ? 'DrainJoined' : how === 'follows' ? 'DrainQueued' : 'DrainAsked',
    message: `${request.requestedBy} asks for a drain: ${request.event.message || request.event.checkName || 'a HealthEvent'}`,
    details: { id: request.id },
  });
}

async function begin(parts: DrainContext, { record, active, takes, next }: Of<'begin'>, look: Look): Promise<Turn> {
  const saved = await saveForNow(look, record);
  if (!saved.written) return saved;
  if (takes !== undefined) await reportTaken(parts, { request: takes, how: 'next' }, look);
  if (active.queue === undefined) await reportStarted(parts, active, look);
  return next === undefined ? ONWARD : prepare(parts, next, after(look, record));
}

async function reportStarted(parts: DrainContext, active: ActiveDrain, look: Look): Promise<void> {
  const [first] = active.requests;
  const about = first === undefined ? '' : `: ${first.event.checkName || 'a HealthEvent'} from ${first.requestedBy}`;
  await report(parts, look, {
    decision: 'begin',
    reason: EVENT_REASONS.drainStarted,
    message: `drain ${active.id} of ${formatScope(active.scope)} has begun${about}`,
    details: { id: active.id, ids: active.requests.map(({ id }) => id), force: active.force },
    metric: { name: 'DrainStarted' },
    event: { type: 'Normal' },
  });
}

/** Says once that the drain waits. */
async function queue({ reporter }: DrainContext, { active, message, until }: Of<'queue'>, look: Look): Promise<Turn> {
  const notice = { type: 'Normal', reason: EVENT_REASONS.drainWaits, message } as const;
  const reported = await sayNew(reporter, look, [notice], { before: active.reported });
  return save(look, { ...look.record, active: { ...active, reported } }, until);
}

/**
 * The Node, then the pods, by one look: the patch fails if the Node changed since, the write after it if the drain was called off, each
 * eviction if its pod changed. What a run that dies leaves undone, the next look does.
 */
async function prepare(
  parts: DrainContext,
  { active, hold, showDraining, pass }: Preparation,
  look: Look,
): Promise<Turn> {
  const { deps } = parts;
  const message = `drain ${active.id} of ${formatScope(active.scope)}`;
  // One that waits for its turn is not in progress.
  const shown = active.queue === undefined ? 'inProgress' : look.node.shown;
  const node = await shownOn(parts, look, shown, message);
  if (node === undefined || isRefusal(node)) return notChanged(look, node);
  const changed = await tryChange(parts, look, 'prepare', () =>
    prepareNode(deps, node, { active, hold, showDraining }),
  );
  if (changed.kind !== 'ok') return notChanged(look, changed);
  const { resourceVersion: nodeVersion } = changed;
  const prepared = { ...active, hold, nodeVersion, ...(pass && notedBefore(active, pass, look)) };
  const record = { ...look.record, active: prepared };
  const saved = await saveForNow(look, record);
  if (!saved.written) return saved;
  // A pod that came before the cordon is not in this look.
  if (pass === undefined || pass.acts.length === 0) return ONWARD;
  return drain(parts, { kind: 'drain', active: prepared, pass, isStuck: false, until: undefined }, after(look, record));
}

/** What the record says of pods before anything happens to them. */
function notedBefore(active: ActiveDrain, pass: DrainPass, { now }: Look): Pick<ActiveDrain, 'tried' | 'returns'> {
  const before = active.returns ?? [];
  const returns = withReturned(before, pass.returned, now);
  return { tried: withTried(active, pass), ...(returns !== before && { returns }) };
}

async function drain(
  parts: DrainContext,
  { active, pass, isStuck, until: due }: Of<'drain'>,
  look: Look,
): Promise<Turn> {
  const { reporter } = parts;
  // The preparation has noted it already.
  const isNoted = look.record.active === active;
  const noted = isNoted ? {} : notedBefore(active, pass, look);
  if ((noted.tried ?? []).length > (active.tried ?? []).length || noted.returns !== undefined) {
    const saved = await saveForNow(look, { ...look.record, active: { ...active, ...noted } });
    if (!saved.written) return saved;
  }
  const { left, warned, held, isSaidAgain, goneBy } = await carryOutPass(parts, look, active, pass);
  const notices = noticesOf(pass, left.texts);
  const reported = await sayNew(reporter, look, notices, { before: active.reported, isSaidAgain });
  const { heldEvictions: _, ...rest } = active;
  const next: ActiveDrain = {
    ...(isStuck ? await saidStuck(parts, rest, notices, look) : rest),
    ...noted,
    warned: [...active.warned, ...warned],
    refusals: left.failures,
    ...(held !== undefined && { heldEvictions: held }),
    // Where nothing was ever said, the record stays as it is, and is not written again.
    ...((reported !== '' || active.reported !== undefined) && { reported }),
  };
  const until = safely(look, [pass.nextLook, left.retryTime, goneBy, due].reduce(earliest, undefined));
  const saved = await saveUntil(look, { ...look.record, active: next }, until);
  if (!saved.written) return saved;
  if (left.isAtOnce) return again('a pod changed');
  // A pod that was warned of may be due already.
  return warned.length > 0 ? ONWARD : saved;
}
