import { describe, expect, it } from 'vitest';
import { toApiFailure } from '../../../shared/adapters/kubernetes/api-failure.ts';
import { toThrown } from '../../../shared/adapters/kubernetes/errors.ts';
import { nextTry, nextRefusal, waitAfter, type Refusal, type Refusals } from '../../../shared/domain/refusal.ts';
import { addDuration, durationBetween, hours, minutes, seconds, toEpochMs } from '../../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import { anotherTurn } from '../../../shared/lifecycle/settle.ts';
import { causeOf, createBackoff, isRefused, type RefusableChange } from '../../../shared/lifecycle/refusals.ts';
import { KindNotServed } from '../../../shared/ports/read-answer.ts';
import { createManualClock, MANUAL_CLOCK_START } from '../../fakes/manual-clock.ts';

const DENIED = `nodes "n1" is forbidden: ValidatingAdmissionPolicy 'freeze' with binding 'freeze' denied request: frozen`;
const NOT_ALLOWED = `nodes "n1" is forbidden: User "curfew:drain" cannot patch resource "nodes" in API group "" at the cluster scope`;
/** As Kubernetes says it up to 1.36, and from 1.37 on. */
const WITHOUT_ROLE = ['RBAC', 'rbac: RBAC'].map(
  prefix => `${NOT_ALLOWED}: ${prefix}: clusterrole.rbac.authorization.k8s.io "curfew-drain" not found`,
);

const answered = (status: number, message = 'because', reason = status === 403 ? 'Forbidden' : '') =>
  toThrown(toApiFailure(status, { kind: 'Status', status: 'Failure', reason, message, code: status }), {
    doing: 'patching nodes n1',
    write: true,
  });

const GROWING = [1, 2, 4, 8, 16, 32, 60, 60];
const UP_TO_FIVE = [1, 2, 4, 5, 5, 5, 5, 5];
const EACH_MINUTE = [1, 1, 1, 1, 1, 1, 1, 1];

describe('when a refused change is tried again', () => {
  it.each([
    { status: 400, message: 'because', waits: GROWING },
    { status: 403, message: DENIED, waits: GROWING },
    { status: 403, message: 'exceeded quota', waits: GROWING },
    { status: 403, message: NOT_ALLOWED, waits: EACH_MINUTE },
    ...WITHOUT_ROLE.map(message => ({ status: 403, message, waits: EACH_MINUTE })),
    { status: 404, message: DENIED, waits: GROWING },
    { status: 405, message: 'because', waits: GROWING },
    { status: 409, message: DENIED, waits: GROWING },
    { status: 413, message: 'because', waits: GROWING },
    { status: 422, message: 'because', waits: GROWING },
    { status: 401, message: 'because', waits: UP_TO_FIVE },
    { status: 408, message: 'because', waits: UP_TO_FIVE },
    { status: 409, message: 'because', waits: UP_TO_FIVE },
    { status: 410, message: 'because', waits: UP_TO_FIVE },
    { status: 429, message: 'because', waits: UP_TO_FIVE },
    { status: 500, message: 'because', waits: UP_TO_FIVE },
    { status: 503, message: 'because', waits: UP_TO_FIVE },
    { status: 504, message: 'because', waits: UP_TO_FIVE },
  ])('$status "$message": after $waits minutes', ({ status, message, waits }) => {
    const cause = causeOf(answered(status, message));
    expect(cause).toBeDefined();
    if (cause === undefined) return;
    let refusal: Refusal | undefined;
    let now = MANUAL_CLOCK_START;
    const found = waits.map(() => {
      refusal = nextRefusal(refusal, { cause, message, basis: 'same', now });
      const next = nextTry(refusal);
      const wait = durationBetween(now, next);
      now = next;
      return wait;
    });
    expect(found).toEqual(waits.map(count => minutes(count)));
  });

  it('is bounded however often it was refused', () => {
    expect(waitAfter({ cause: 'request', count: 100_000 })).toBe(hours(1));
  });

  it.each([
    new Error('a bug'),
    new KindNotServed({ group: '', version: 'v1', resource: 'nodes' }),
    new RetryableError('no time is left', { reason: 'DeadlineReserve' }),
  ])('does not take for a refusal: %s', error => {
    expect(causeOf(error)).toBeUndefined();
  });
});

const node = (labels: Record<string, string> = {}, version = '1') => ({
  kind: 'Node',
  metadata: { name: 'n1', uid: 'u1', labels, resourceVersion: version },
  status: { heartbeat: version },
});

/** A subject whose change is refused until told otherwise, over many runs. */
function refusedSubject() {
  const clock = createManualClock();
  let stored: Refusals | undefined;
  const calls: number[] = [];
  const said: { readonly text: string; readonly isRepeated: boolean }[] = [];
  let error: Error | undefined;
  const change = (more: Partial<RefusableChange>): RefusableChange => ({
    key: 'cordon',
    stored,
    restsOn: [node()],
    report: async (text, isRepeated) => {
      said.push({ text, isRepeated });
    },
    ...more,
  });
  return {
    clock,
    calls,
    said,
    stored: () => stored,
    fail(next: Error | undefined) {
      error = next;
    },
    async run(more: Partial<RefusableChange> = {}) {
      const backoff = createBackoff(clock);
      const outcome = await backoff.try(change(more), async () => {
        calls.push(durationBetween(MANUAL_CLOCK_START, clock.now()) / minutes(1));
        if (error !== undefined) throw error;
        return { kind: 'ok' } as const;
      });
      stored = backoff.refusalsAfter(stored);
      return outcome;
    },
  };
}

describe('the backoff of one subject', () => {
  it('calls on the schedule only, whatever wakes it', async () => {
    const subject = refusedSubject();
    subject.fail(new TerminalError('Forbidden', 'frozen'));
    for (let count = 0; count <= 4 * 60; count++) {
      await subject.run();
      await subject.clock.advance(minutes(1));
    }
    expect(subject.calls).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
  });

  it('says it at once and then once an hour, the Event alone', async () => {
    const subject = refusedSubject();
    subject.fail(new TerminalError('Forbidden', 'frozen'));
    for (let count = 0; count <= 4 * 60; count++) {
      await subject.run();
      await subject.clock.advance(minutes(1));
    }
    expect(subject.said.map(({ isRepeated }) => isRepeated)).toEqual([false, true, true, true]);
    expect(new Set(subject.said.map(({ text }) => text)).size).toBe(1);
  });

  it('says another cause at once, but not another number in the same one', async () => {
    const subject = refusedSubject();
    for (const message of ['denied at 10:00:01', 'denied at 10:05:07', 'a quota']) {
      subject.fail(new TerminalError('Forbidden', message));
      const outcome = await subject.run();
      if (isRefused(outcome)) await subject.clock.advance(durationBetween(subject.clock.now(), outcome.until));
    }
    expect(subject.said.map(({ text }) => text)).toEqual([
      expect.stringContaining('denied at 10:00:01'),
      expect.stringContaining('a quota'),
    ]);
  });

  it.each([
    { what: 'its object changes', more: { restsOn: [node({ team: 'a' })] }, calls: 2 },
    { what: 'a setting changes', more: { restsOn: [node(), { mode: 'Observe' }] }, calls: 2 },
    { what: 'only status and version change', more: { restsOn: [node({}, '2')] }, calls: 1 },
    { what: 'another change is wanted', more: { key: 'uncordon' }, calls: 2 },
    { what: 'a deadline comes', more: { deadline: addDuration(MANUAL_CLOCK_START, seconds(30)) }, calls: 2 },
    { what: 'a deadline is far', more: { deadline: addDuration(MANUAL_CLOCK_START, hours(1)) }, calls: 1 },
    { what: 'a deadline was over before', more: { deadline: MANUAL_CLOCK_START }, calls: 1 },
  ])('$what: $calls calls within a minute', async ({ more, calls }) => {
    const subject = refusedSubject();
    subject.fail(new TerminalError('Forbidden', 'frozen'));
    await subject.run();
    await subject.clock.advance(seconds(30));
    await subject.run(more);
    expect(subject.calls).toHaveLength(calls);
  });

  it('does not call again because the fields of a setting are in another order', async () => {
    const subject = refusedSubject();
    subject.fail(new TerminalError('Forbidden', 'frozen'));
    await subject.run({ restsOn: [node(), { a: 1, b: [{ c: 2, d: 3 }] }] });
    await subject.run({ restsOn: [node(), { b: [{ d: 3, c: 2 }], a: 1 }] });
    expect(subject.calls).toHaveLength(1);
    await subject.run({ restsOn: [node(), { b: [{ d: 3, c: 1 }], a: 1 }] });
    expect(subject.calls).toHaveLength(2);
  });

  it('looks again at the deadline', async () => {
    const subject = refusedSubject();
    subject.fail(new TerminalError('Forbidden', 'frozen'));
    const deadline = addDuration(MANUAL_CLOCK_START, seconds(30));
    expect(await subject.run({ deadline })).toMatchObject({ until: deadline });
    expect(await subject.run({ deadline })).toMatchObject({ until: deadline });
  });

  it.each([1, 3, 7, 15, 31, 63])('goes on where it was when a try at minute %i only times out', async minute => {
    const subject = refusedSubject();
    for (let time = 0; time <= 4 * 60; time++) {
      subject.fail(time === minute ? answered(503) : new TerminalError('Forbidden', 'frozen'));
      const outcome = await subject.run();
      if (time === minute) expect(outcome).toMatchObject({ kind: 'refused', redeliveryError: answered(503) });
      await subject.clock.advance(minutes(1));
    }
    expect(subject.calls).toHaveLength(10);
    expect(subject.said).toHaveLength(4);
  });

  it.each([
    undefined,
    'changed',
    { kind: 'changed' },
    { kind: 'conflict' },
    anotherTurn('its record was written'),
    { kind: 'progressed', because: 'it changed in between' },
  ])('does not forget a refusal for a lost race, nor for what has more to do at once: %j', async lost => {
    const subject = refusedSubject();
    subject.fail(new TerminalError('Forbidden', 'frozen'));
    await subject.run();
    await subject.clock.advance(minutes(1));
    const backoff = createBackoff(subject.clock);
    await backoff.try(
      { key: 'cordon', stored: subject.stored(), restsOn: [node()], report: async () => {} },
      async () => lost,
    );
    expect(backoff.refusalsAfter(subject.stored())).toEqual(subject.stored());
  });

  it('forgets what was accepted', async () => {
    const subject = refusedSubject();
    subject.fail(new TerminalError('Forbidden', 'frozen'));
    await subject.run();
    subject.fail(undefined);
    await subject.clock.advance(minutes(1));
    expect(await subject.run()).toEqual({ kind: 'ok' });
    expect(subject.stored()).toBeUndefined();
  });

  it('leaves to the queue what passes, and says it once it lasts', async () => {
    const subject = refusedSubject();
    const error = answered(500);
    subject.fail(error);
    expect(await subject.run()).toMatchObject({ kind: 'refused', redeliveryError: error });
    await subject.clock.advance(seconds(5));
    expect(await subject.run()).toMatchObject({ kind: 'refused', redeliveryError: error });
    expect(subject.said).toEqual([]);
    await subject.clock.advance(minutes(5));
    const lasting = await subject.run();
    expect(lasting).toMatchObject({ kind: 'refused', redeliveryError: undefined });
    expect(subject.said).toHaveLength(1);
    expect(await subject.run()).toMatchObject({ kind: 'refused', redeliveryError: undefined });
    expect(subject.calls).toHaveLength(3);
  });

  it('does not repeat in one run what was refused in it', async () => {
    const clock = createManualClock();
    const backoff = createBackoff(clock);
    let calls = 0;
    const attempt = (key: string, message = 'frozen') =>
      backoff.try({ key, stored: undefined, restsOn: [], report: async () => undefined }, async () => {
        calls += 1;
        throw new TerminalError('Forbidden', message);
      });
    await attempt('cordon');
    await attempt('cordon');
    expect(calls).toBe(1);
    await attempt('uncordon');
    expect(calls).toBe(2);
  });

  it('says the same words of two changes once', async () => {
    const clock = createManualClock();
    const backoff = createBackoff(clock);
    let said = 0;
    for (const key of ['delete', 'taint']) {
      const report = async (): Promise<void> => void (said += 1);
      await backoff.try({ key, stored: undefined, restsOn: [], report }, async () => {
        throw new TerminalError('Forbidden', 'frozen');
      });
    }
    expect(said).toBe(1);
  });

  it('says of one change what went without a word for another', async () => {
    const backoff = createBackoff(createManualClock());
    const said: string[] = [];
    const refuse = async () => {
      throw new TerminalError('Forbidden', 'frozen');
    };
    const change = { stored: undefined, restsOn: [] };
    await backoff.try({ ...change, key: 'show' }, refuse);
    expect(backoff.refusalsAfter(undefined)?.['show']).not.toHaveProperty('saidTime');
    await backoff.try({ ...change, key: 'taint', report: async text => void said.push(text) }, refuse);
    expect(said).toHaveLength(1);
  });

  it('probes a verb on a whole kind once a minute for all its changes, and makes them all when it passes', async () => {
    const clock = createManualClock();
    let stored: Refusals | undefined;
    let isAllowed = false;
    const called: string[] = [];
    const run = async (): Promise<void> => {
      const backoff = createBackoff(clock);
      for (const key of ['n1', 'n2', 'n3']) {
        await backoff.try({ key, stored, restsOn: [], report: async () => undefined }, async () => {
          called.push(key);
          if (!isAllowed) throw answered(403, NOT_ALLOWED);
          return { kind: 'ok' };
        });
      }
      stored = backoff.refusalsAfter(stored);
    };
    await run();
    called.length = 0;
    for (let count = 0; count < 3; count++) {
      await clock.advance(minutes(1));
      await run();
    }
    expect(called).toEqual(['n1', 'n1', 'n1']);
    isAllowed = true;
    called.length = 0;
    await clock.advance(minutes(1));
    await run();
    expect(called).toEqual(['n1', 'n2', 'n3']);
    expect(stored).toBeUndefined();
  });

  it('tries a read that is refused ever less often, and not by the queue', async () => {
    const read = async () => {
      throw new RetryableError('reading nodes n1: 400', { reason: 'BadRequest', isReadRefused: true });
    };
    const outcome = await createBackoff(createManualClock()).try({ key: 'read', stored: undefined, restsOn: [] }, read);
    expect(outcome).toMatchObject({ kind: 'refused', redeliveryError: undefined });
    expect(outcome).toMatchObject({ until: addDuration(MANUAL_CLOCK_START, minutes(1)) });
  });

  it('begins anew where nobody tried for long', () => {
    const refused = { cause: 'request', message: 'frozen', basis: 'same' } as const;
    const once = nextRefusal(undefined, { ...refused, now: MANUAL_CLOCK_START });
    const later = toEpochMs(MANUAL_CLOCK_START + hours(3));
    expect(nextRefusal(once, { ...refused, now: later })).toMatchObject({ count: 1, firstTime: later });
  });
});
