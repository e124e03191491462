/**
 * The whole of Curfew in one process, over ports: forwarder ─▶ bus ─▶ routes ─▶ one inbox per function ─▶ the function, the minute
 * tick, and the daily check for orphans. Time comes from the scheduler alone, so the same code runs on virtual time (simulator) and on real time.
 */
import type { Envelope } from '../shared/contract/envelope.ts';
import { FUNCTION_TIMEOUT_SECONDS, MAX_RECEIVES, VISIBILITY_TIMEOUT_SECONDS } from '../shared/contract/inbox.ts';
import { SOURCES, TICK, FUNCTION_NAMES, type FunctionName } from '../shared/contract/names.ts';
import { ORPHAN_CHECK_WAKE_UP, toWakeUpEnvelope } from '../shared/contract/wake-up.ts';
import { addDuration, hours, minutes, seconds, type DurationMs } from '../shared/domain/time.ts';
import { invariant } from '../shared/domain/invariant.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import { createFunctionRunner } from './function-runner.ts';
import { RECONCILERS } from './functions.ts';
import { createInboxes, createInProcessBus, createInProcessWakeUps } from './in-process/messaging.ts';
import { createInbox, type InboxSettings } from './inbox.ts';
import { startEnvironment, startForwarder, type RunningForwarder, type SharedParts } from './processes.ts';
import { repeat, type Cancel } from './scheduler.ts';
import type { BuriedMessage, System, SystemParts } from './system-parts.ts';

/** The deployed settings. */
const INBOX_SETTINGS: InboxSettings = {
  visibilityTimeout: seconds(VISIBILITY_TIMEOUT_SECONDS),
  maxReceiveCount: MAX_RECEIVES,
};
const TICK_PERIOD = minutes(1);
/** As the schedule of the deployment. */
const ORPHAN_CHECK_PERIOD = hours(24);

const NO_METRICS: MetricSink = { count: () => undefined, milliseconds: () => undefined };

/** Nothing happens before `start`, which throws when it is called twice. */
export function createSystem(parts: SystemParts): System {
  const { scheduler, hooks = {}, metrics = NO_METRICS } = parts;
  const inboxes = createInboxes(hooks.deliver);
  const { deliver } = inboxes;
  const bus = createInProcessBus({ cluster: parts.cluster, clock: scheduler, deliver });
  const wakeUps = createInProcessWakeUps(deliver);
  const bury = (message: BuriedMessage): void => hooks.onBuried?.(message);
  const shared: SharedParts = { parts, bus, wakeUps, metrics, bury };

  for (const name of FUNCTION_NAMES) {
    const reconciler = parts.reconcilers?.[name] ?? RECONCILERS[name];
    const runner = createFunctionRunner({
      cluster: parts.cluster,
      name,
      reconciler,
      scheduler,
      metrics,
      timeout: seconds(FUNCTION_TIMEOUT_SECONDS),
      environment: lifetime => startEnvironment(shared, name, lifetime),
      ...(hooks.onRun && { onRun: lifetime => hooks.onRun?.(name, lifetime) }),
    });
    const inbox = createInbox({
      name,
      scheduler,
      settings: { ...INBOX_SETTINGS, ...parts.inboxes },
      consume: message =>
        runner.run(message).catch((error: unknown) => {
          hooks.onFailed?.(name, error);
          throw error;
        }),
      bury: ({ body, receiveCount }) =>
        bury({
          function: name,
          body,
          reason: 'TooManyReceives',
          explanation: `received ${receiveCount} times without success`,
        }),
    });
    inboxes.byName.set(name, inbox);
  }

  let running: RunningForwarder | undefined;
  let nextStart: Cancel | undefined;
  /** Of what is sent at a fixed rate; none before the start. */
  const schedules: Cancel[] = [];
  const sendEach = (period: DurationMs, target: FunctionName, envelope: Envelope): void =>
    void schedules.push(repeat(scheduler, period, () => deliver(target, JSON.stringify(envelope), seconds(0))));

  return {
    start() {
      invariant(schedules.length === 0, 'a system is started once');
      running = startForwarder(shared);
      sendEach(TICK_PERIOD, 'timer', { source: SOURCES.timer, 'detail-type': TICK, detail: {} });
      sendEach(ORPHAN_CHECK_PERIOD, 'finalizer', toWakeUpEnvelope(ORPHAN_CHECK_WAKE_UP));
    },
    async stop() {
      for (const end of schedules) end();
      nextStart?.();
      await running?.forwarder.stop();
    },
    publish: event => bus.route(event),
    send: (target, body, delay = seconds(0)) => deliver(target, body, delay),
    restartForwarder(downtime = seconds(0)) {
      running?.lifetime.end();
      nextStart?.();
      nextStart = scheduler.at(addDuration(scheduler.now(), downtime), () => {
        running = startForwarder(shared);
      });
    },
    forwarder: {
      ready: () => started(running).forwarder.ready(),
      stats: () => started(running).forwarder.stats(),
    },
    depth: name => inboxes.of(name).depth(),
    waiting: () =>
      [...inboxes.byName].flatMap(([target, inbox]) => inbox.waiting().map(message => ({ target, ...message }))),
    takeOver: ({ target, ...message }) => inboxes.of(target).takeOver(message),
  };
}

function started<T>(running: T | undefined): T {
  invariant(running !== undefined, 'the system is started first');
  return running;
}
