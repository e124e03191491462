/** The record of a pool: which of its nodes are in flight, and what its guards remember. The schema is the type. */
import { actionType, answer, dueCondition, named } from './attempt-record.ts';
import { list, madeResource, resourceName } from './node-record.ts';
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';

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

export const carriedAttempt = z.object({
  number: z.int().check(z.positive()),
  phase: z.enum(['intended', 'refused', 'accepted', 'observed']),
  intendedTime: instant,
  node: named,
  claim: z.optional(named),
  incident: dueCondition,
  rung: z.int().check(z.minimum(0)),
  action: actionType,
  carriedOut: z.optional(z.object({ rung: z.int().check(z.minimum(0)), action: actionType })),
  until: z.optional(instant),
  answer: z.optional(answer),
  notTaken: z.optional(z.literal(true)),
  terminationTimestamp: z.optional(z.string()),
  previousTimestamp: z.optional(z.string()),
  bootID: z.optional(z.string()),
  requestId: z.optional(z.string()),
  resources: z.optional(list(madeResource)),
  mayHaveMade: z.optional(list(resourceName)),
  /** The repair is over, and this could not be taken back. */
  isLeft: z.optional(z.literal(true)),
});

/** An attempt as an earlier version had it in the record of its pool. */
export type CarriedAttempt = Readonly<z.output<typeof carriedAttempt>>;

export const poolSchema = z.object({
  /** Time since which a node is in flight, by its UID. 48 bytes each. */
  inFlight: z.record(z.string(), instant),
  /**
   * UIDs of nodes with a repair that is not over although nobody waits for it: stuck ones, and those whose Nodes are
   * gone.
   */
  followed: z._default(list(z.string()), []),
  /** Guards that held a due repair in the last pass that looked: `cluster`, `zone/<name>`, `threshold`. */
  holdingGuards: list(z.string()),
  ramp: z.optional(ramp),
  /** Pause after a replacement that did not become ready. */
  launchPause: z.optional(launchPause),
  /** Terminations that were accepted in the last day, or in the window of `futility` if that is longer. */
  terminations: list(termination),
  /** Number of held and of running repairs, for the status of policies. */
  counts: z.object({ held: z.int(), repairing: z.int() }),
  /** Time of the last report of how many nodes were not replaced. */
  missingTime: z.optional(instant),
  /** Attempts in the layout of an earlier version: each goes into the record of its node. */
  oldAttempts: z.optional(list(carriedAttempt)),
});

export type PoolRecord = Readonly<z.output<typeof poolSchema>>;

export const NEW_POOL: PoolRecord = {
  inFlight: {},
  followed: [],
  holdingGuards: [],
  terminations: [],
  counts: { held: 0, repairing: 0 },
};
