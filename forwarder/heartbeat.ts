/**
 * A sign of life on the bus while the forwarder sees what happens in the cluster: an alarm rings when it stops. It says
 * more than a running process: a forwarder that is not ready, or whose bus refuses, is silent.
 */
import { FORWARDER_HEARTBEAT, SOURCES } from '../shared/contract/names.ts';
import { toDurationMs, type DurationMs } from '../shared/domain/time.ts';
import { messageOf } from '../shared/errors.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { EventBus } from '../shared/ports/event-bus.ts';
import { pauseFor } from './keep-going.ts';
import type { ForwarderStats } from './stats.ts';
import type { Log } from './log.ts';
import { orAborted } from './inactivity.ts';

export interface HeartbeatDeps {
  readonly cluster: string;
  readonly period: DurationMs;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly log: Log;
  readonly ready: () => boolean;
  readonly stats: () => ForwarderStats;
}

/** Looks in a period while the forwarder is not ready: its first heartbeat should not be a whole period late. */
const LOOKS_PER_PERIOD = 12;

/** Sends heartbeats until `signal` aborts. Never rejects. A heartbeat that fails is not repeated: the next one comes. */
export async function sendHeartbeats(deps: HeartbeatDeps, signal: AbortSignal): Promise<void> {
  const { clock, period, log } = deps;
  while (!signal.aborted) {
    try {
      const ready = deps.ready();
      if (ready) await orAborted(sendOne(deps), signal);
      await clock.sleep(toDurationMs(ready ? period : period / LOOKS_PER_PERIOD), signal);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ error: messageOf(error) }, 'sending a heartbeat failed');
      await pauseFor(period, clock, signal);
    }
  }
}

async function sendOne({ cluster, bus, stats }: HeartbeatDeps): Promise<void> {
  const { resources, queueDepth } = stats();
  const objects = Object.fromEntries(resources.map(({ resource, objects: count }) => [resource, count]));
  const detail = { cluster, queueDepth, objects };
  const [outcome] = await bus.publish([{ source: SOURCES.forwarder, detailType: FORWARDER_HEARTBEAT, detail }]);
  if (outcome?.kind !== 'published') throw new Error(outcome?.code ?? 'no outcome');
}
