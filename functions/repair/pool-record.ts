/** The record of a pool: which of its nodes are in flight, and what its guards remember. The schema is the type. */
import { oldAttempt } from './stored-versions.ts';
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import { refusalsSchema } from '../../shared/lifecycle/refusals.ts';

const ramp = z.object({ step: z.int(), stepTime: instant, granted: z.int() });

/**
 * Speed at which repairs begin again after an outage: 1, 2, 4 … a minute. `granted` 0: its first minute has yet to
 * begin.
 */
export type Ramp = Readonly<z.output<typeof ramp>>;

const termination = z.object({
  condition: z.string(),
  time: instant,
  node: z.optional(z.string()),
  /** A replacement was ready before the termination. */
  isReplaced: z.optional(z.literal(true)),
});

const launchPause = z.object({ failures: z.int(), until: instant });

/**
 * A pool whose launch failed launches nothing for a while: 5 minutes, twice as long after each failure, an hour at
 * most.
 */
export type LaunchPause = Readonly<z.output<typeof launchPause>>;

export const poolSchema = z.object({
  /** Time since which a node is in flight, by its UID. 48 bytes each. */
  inFlight: z.record(z.string(), instant),
  /**
   * UIDs of nodes with a repair that is not over although nobody waits for it: stuck ones, and those whose Nodes are
   * gone.
   */
  followed: z._default(z.list(z.string()), []),
  /** Guards that blocked a due repair in the last pass that looked: `cluster`, `zone/<name>`, `threshold`. */
  blockingGuards: z.list(z.string()),
  ramp: z.optional(ramp),
  /** Pause after a replacement that did not become ready. */
  launchPause: z.optional(launchPause),
  /** Terminations that were accepted in the last day, or in the window of `futility` if that is longer. */
  terminations: z.list(termination),
  /** Number of blocked and of running repairs, for the status of policies, which calls the first `held`. */
  counts: z.object({ blocked: z.int(), repairing: z.int() }),
  /** Time of the last report of how many nodes were not replaced. */
  missingTime: z.optional(instant),
  /** Present while a pass cannot read what it needs. */
  refusals: z.optional(refusalsSchema),
  /** Attempts in the layout of an earlier version: each goes into the record of its node. */
  oldAttempts: z.optional(z.list(oldAttempt)),
});

export type PoolRecord = Readonly<z.output<typeof poolSchema>>;

export const NEW_POOL: PoolRecord = {
  inFlight: {},
  followed: [],
  blockingGuards: [],
  terminations: [],
  counts: { blocked: 0, repairing: 0 },
};
