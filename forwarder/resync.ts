/**
 * Publishes every tracked object again: spread evenly over a period, and at a bounded rate when somebody asks. What matched no rule
 * when it was published, or ended in a dead-letter queue, is seen again within a period.
 */
import { hours, toDurationMs, type DurationMs } from '../shared/domain/time.ts';
import type { Clock } from '../shared/ports/clock.ts';
import { keepGoing } from './keep-going.ts';
import type { Log } from './log.ts';
import { linkAbort } from './inactivity.ts';

export interface ResyncSettings {
  /** Each object is published again this often; zero: only on demand. */
  readonly period: DurationMs;
  /** The most objects a second, also on demand; a cluster too large for the period takes longer. */
  readonly perSecondMax: number;
}

export interface ResyncDeps {
  readonly settings: ResyncSettings;
  readonly clock: Clock;
  readonly log: Log;
  /** The keys of all objects that are to be published, at this moment. */
  readonly keys: () => readonly string[];
  /** Publishes one; does nothing when it is gone. May wait for room in the queue. */
  readonly publish: (key: string, signal: AbortSignal) => Promise<void>;
}

export interface Resync {
  /** Runs until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Publishes everything from now on, as fast as the bound allows. */
  request(): void;
}

/** While there is nothing to publish, it is looked for again after this part of the period. */
const LOOKS_PER_PERIOD = 100;
/** Objects per wake-up of a fast round: a timer each would cost more than the publishing. */
const BATCH_MS = 200;

/** A period of zero publishes on request only. A request during a round starts the round over. */
export function createResync({ settings, clock, log, keys, publish }: ResyncDeps): Resync {
  const { period, perSecondMax } = settings;
  const fastest = 1000 / perSecondMax;
  let requested = false;
  let wake = (): void => undefined;

  /** Sleeps, or until a request. */
  async function pause(duration: DurationMs, signal: AbortSignal): Promise<void> {
    if (requested) return;
    const { controller: woken, unlink } = linkAbort(signal);
    wake = () => woken.abort();
    try {
      signal.throwIfAborted();
      await clock.sleep(duration, woken.signal);
    } catch (error) {
      if (signal.aborted || !woken.signal.aborted) throw error;
    } finally {
      wake = () => undefined;
      unlink();
    }
  }

  /** One object after the other, `spacing` milliseconds apart on average. Ends early when a new pass is requested. */
  async function pass(spacing: number, signal: AbortSignal): Promise<void> {
    const pending = keys();
    const step = Math.max(1, Math.floor(BATCH_MS / spacing));
    for (let index = 0; index < pending.length; index += step) {
      await pause(toDurationMs(Math.ceil(spacing * step)), signal);
      if (requested) return;
      for (const key of pending.slice(index, index + step)) await publish(key, signal);
    }
  }

  async function step(signal: AbortSignal): Promise<void> {
    if (requested) {
      requested = false;
      log.info({ objects: keys().length }, 'publishing everything again, on request');
      return pass(fastest, signal);
    }
    const count = keys().length;
    if (period === 0) return pause(hours(24), signal);
    if (count === 0) return pause(toDurationMs(Math.ceil(period / LOOKS_PER_PERIOD)), signal);
    return pass(Math.max(period / count, fastest), signal);
  }

  return {
    run: signal =>
      keepGoing(signal, {
        step,
        failed: 'publishing everything again failed, going on',
        pause: toDurationMs(1000),
        clock,
        log,
      }),
    request() {
      requested = true;
      wake();
    },
  };
}
