/**
 * The attempt in a node's record: one act on the node, from the intent before its first call until the act is over.
 * The schemas are the types.
 */
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';

export const named = z.object({ name: z.string(), uid: z.string() });

export const dueCondition = z.object({
  conditionType: z.string(),
  conditionStatus: z.string(),
  lastTransitionTime: instant,
  /** From when on the node may be repaired. */
  dueTime: instant,
  /** Where the toleration stands; absent: the provider's default. */
  field: z.optional(z.string()),
  /** Of the entry; absent: 0. */
  priority: z.optional(z.int()),
});

/** The entry that decides: of those that are due the one with the highest priority, then the one that was due first. */
export type DueCondition = Readonly<z.output<typeof dueCondition>>;

export const actionType = z.enum(['Reboot', 'Drain', 'CustomResource', 'Replace', 'Terminate']);

/** One act; `DrainThenTerminate` of the block is two, `Drain` and `Terminate`. */
export type ActionType = z.output<typeof actionType>;

export const replacement = z.object({
  name: z.string(),
  /** Known once it was made. */
  uid: z.optional(z.string()),
  /** Its Node. */
  node: z.optional(z.string()),
  /** When its taint was first seen to be off. */
  releasedTime: z.optional(instant),
});

/** A NodeClaim that was made to take the place of an unhealthy node. */
export type Replacement = Readonly<z.output<typeof replacement>>;

/** `stopped`: a person took it back, and nothing follows. */
export const answer = z.object({ kind: z.enum(['succeeded', 'failed', 'stopped']), message: z.string() });

/** How an act itself ended, before its time was over. */
export type ActionAnswer = Readonly<z.output<typeof answer>>;

/** A drain that a repair may have asked for, by its request. */
export interface EndedDrain {
  readonly requestId: string;
  readonly answer: ActionAnswer;
}

const anyAttempt = z.object({
  /** Counts the attempts at this node, from 1. */
  number: z.int().check(z.positive()),
  /**
   * `intended` is written before the first call, `accepted` after the act was taken. An intended attempt whose run
   * ended is resolved by looking, never by repeating (I4).
   */
  phase: z.enum(['intended', 'accepted']),
  time: instant,
  dueCondition,
  /** Type, template and timeout: what makes it the same action (`rule/ladder.ts`). */
  key: z.string(),
  /** When its time is over: the next action may follow, and a termination counts as stuck. */
  until: instant,
});

/** The deadline that a termination sets on its NodeClaim. */
export const deadlineAnnotation = z.object({
  /** The value that was set, so that it is known as ours (I7). */
  set: z.string(),
  /** What somebody else had set there before; given back when the attempt is called off. */
  previous: z.optional(z.string()),
});

/** How long the pods of the node have, and the deadline that its NodeClaim gets for that. */
const podsTime = z.discriminatedUnion('kind', [
  /** As long as they take. */
  z.object({ kind: z.literal('unbounded') }),
  /** The remaining pods go then. @property annotation absent: the deadline that the NodeClaim has is early enough */
  z.object({ kind: z.literal('until'), time: instant, annotation: z.optional(deadlineAnnotation) }),
  /** They go at once. An earlier version kept nothing else. */
  z.object({ kind: z.literal('none'), annotation: deadlineAnnotation }),
]);

const inPlace = z.extend(anyAttempt, {
  /** Absent for a node that Karpenter does not manage. */
  claim: z.optional(named),
});

/** A request to another controller: its id, which each try has in common, and the answer. */
const request = { requestId: z.optional(z.string()), answer: z.optional(answer) };

export const attempt = z.union([
  z.discriminatedUnion('action', [
    /** @property bootID the machine's before */
    z.extend(inPlace, { action: z.literal('Reboot'), bootID: z.optional(z.string()) }),
    z.extend(inPlace, { action: z.literal('Drain'), ...request }),
    z.extend(inPlace, { action: z.literal('CustomResource'), ...request }),
    /** @property replacement what it launches */
    z.extend(anyAttempt, { action: z.literal('Replace'), claim: named, replacement }),
  ]),
  z.extend(anyAttempt, {
    action: z.literal('Terminate'),
    claim: named,
    pods: podsTime,
    /** What takes the place of the node, opened before. */
    replacement: z.optional(replacement),
  }),
  /** Without a NodeClaim: the instance is ended in its Auto Scaling group. */
  z.extend(anyAttempt, {
    action: z.literal('Terminate'),
    claim: z.optional(z.undefined()),
    /** When EC2 is asked again, after it refused to say whether the instance ended. */
    askTime: z.optional(instant),
  }),
]);

export type Attempt = Readonly<z.output<typeof attempt>>;

export type AttemptOf<Action extends ActionType> = Extract<Attempt, { readonly action: Action }>;

/** The end of a NodeClaim. */
export type ClaimTermination = Extract<AttemptOf<'Terminate'>, { readonly claim: object }>;

/** The end of an instance in its Auto Scaling group. */
export type InstanceTermination = Exclude<AttemptOf<'Terminate'>, ClaimTermination>;
