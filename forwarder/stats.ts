/** The state of a forwarder, as probes, metrics and heartbeats report it. */
import type { DurationMs } from '../shared/domain/time.ts';
import type { BusProblem } from './bus-health.ts';
import type { WatchState } from './watch-status.ts';

export interface ResourceStats {
  readonly resource: string;
  readonly state: WatchState;
  /** It runs only while something asks for it, and is no part of readiness. */
  readonly optional: boolean;
  /** Tracked objects. */
  readonly objects: number;
  /** Since the last sign that we see what happens: event, bookmark, list. */
  readonly staleness: DurationMs;
  readonly problem: string | undefined;
}

export interface ForwarderStats {
  readonly resources: readonly ResourceStats[];
  /** Objects whose changes are not published yet. */
  readonly queueDepth: number;
  readonly bus: BusProblem | undefined;
}
