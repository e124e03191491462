/** Faults that come out of the blue: outages of whole parts, and forwarders that die. */
import {
  addDuration,
  durationBetween,
  hours,
  minutes,
  seconds,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { Outages } from '../outages.ts';
import type { Random } from '../random.ts';
import { WHOLE_PARTS } from '../scenario/scenario.ts';
import type { FaultInjector } from './injector.ts';

const SHORTEST_OUTAGE = seconds(5);
const LONGEST_OUTAGE = minutes(10);
/** A pod that was killed is back after this long at most. */
const LONGEST_DOWNTIME = minutes(1);
/** Of a forwarder in one run, as a rule: each publishes the whole cluster, and in a run of days there would be little else. */
const MAX_RESTARTS = 24;

export interface DisturbanceTargets {
  readonly scheduler: Scheduler;
  readonly outages: Outages;
  readonly restartForwarder: (downtime: DurationMs) => void;
  /** No disturbance lasts longer. */
  readonly end: EpochMs;
}

/** Plans all disturbances of a run. */
export function planDisturbances(injector: FaultInjector, random: Random, targets: DisturbanceTargets): void {
  const { scheduler, outages, restartForwarder, end } = targets;
  const { perHour } = injector.mix;

  const outageTimes = random.stream('outages');
  for (const part of WHOLE_PARTS) {
    for (const time of arrivals(outageTimes, perHour.outage, scheduler.now(), end)) {
      const wanted = toDurationMs(outageTimes.integer(SHORTEST_OUTAGE, LONGEST_OUTAGE));
      scheduler.at(time, () => {
        injector.count('outage');
        outages.begin(part, toDurationMs(Math.min(wanted, end - time)));
      });
    }
  }
  const restartTimes = random.stream('restarts');
  const most = (MAX_RESTARTS * hours(1)) / durationBetween(scheduler.now(), end);
  for (const time of arrivals(restartTimes, Math.min(perHour.forwarderRestart, most), scheduler.now(), end)) {
    const downtime = toDurationMs(restartTimes.integer(0, LONGEST_DOWNTIME));
    scheduler.at(time, () => {
      injector.count('forwarderRestart');
      restartForwarder(toDurationMs(Math.min(downtime, end - time)));
    });
  }
}

/** Instants of a Poisson process. */
function arrivals(random: Random, perHour: number, start: EpochMs, end: EpochMs): readonly EpochMs[] {
  const times: EpochMs[] = [];
  let time = start;
  for (;;) {
    const gap = (-Math.log(1 - random.next()) * hours(1)) / perHour;
    time = addDuration(time, toDurationMs(Math.ceil(gap)));
    if (time >= end) return times;
    times.push(time);
  }
}
