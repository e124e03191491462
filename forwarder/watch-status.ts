/** State of a list-watch, for health, metrics and the objects that ask for it. */
import type { EpochMs } from '../shared/domain/time.ts';
import { messageOf, RetryableError } from '../shared/errors.ts';
import type { Clock } from '../shared/ports/clock.ts';
import { WatchExpired } from '../shared/ports/cluster-watch.ts';

/** `notServed`: the CRD is missing, there is nothing to watch yet. */
export type WatchState = 'starting' | 'synced' | 'notServed';
export interface WatchStatus {
  readonly state: WatchState;
  /** The last event, bookmark, clean end of a watch, or list. */
  readonly lastContactTime: EpochMs | undefined;
  /** The reason why it does not work at the moment; undefined: it works. */
  readonly problem: string | undefined;
  /** The API server refuses permission. */
  readonly forbidden: boolean;
}

export interface WatchHealth {
  status(): WatchStatus;
  /** A sign of life: nothing is wrong at the moment. */
  contact(): void;
  /** A list has ended: a sign of life, too. Answers whether it stood otherwise before. */
  enter(state: WatchState): boolean;
  /** A list or watch has failed. Answers whether the problem is a new one; that a position has expired is none. */
  failed(error: unknown): boolean;
}

/** @param onStatus called after each list, each failure, and the first sign of life after one. Must not throw. */
export function createWatchHealth(
  clock: Clock,
  onStatus: (status: WatchStatus) => void = () => undefined,
): WatchHealth {
  let status: WatchStatus = { state: 'starting', lastContactTime: undefined, problem: undefined, forbidden: false };
  const well = () => ({ lastContactTime: clock.now(), problem: undefined, forbidden: false });
  return {
    status: () => status,
    contact() {
      const wasFailing = status.problem !== undefined;
      status = { ...status, ...well() };
      if (wasFailing) onStatus(status);
    },
    enter(state) {
      const isNew = status.state !== state;
      status = { state, ...well() };
      onStatus(status);
      return isNew;
    },
    failed(error) {
      const expired = error instanceof WatchExpired;
      const problem = expired ? status.problem : messageOf(error);
      const isNew = problem !== status.problem;
      status = { ...status, problem, forbidden: error instanceof RetryableError && error.reason === 'Forbidden' };
      onStatus(status);
      return isNew;
    },
  };
}
