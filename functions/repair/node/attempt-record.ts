/**
 * The attempt in a node's record: one act on the node, from the intent before its first call until the act is over.
 * The schemas are the types.
 */
import { instant } from '../../../shared/contract/instant.ts';
import * as z from '../../../shared/contract/zod.ts';

export const named = z.object({ name: z.string(), uid: z.string() });

export const dueCondition = z.object({
  conditionType: z.string(),
  conditionStatus: z.string(),
  lastTransitionTime: instant,
  /** Time from which the node may be repaired. */
  dueTime: instant,
  /** Field that states the toleration; absent: the provider's default. */
  field: z.optional(z.string()),
  /** Priority of the entry; absent: 0. */
  priority: z.optional(z.int()),
});

/** The entry that decides: of those that are due the one with the highest priority, then the one that was due first. */
export type DueCondition = Readonly<z.output<typeof dueCondition>>;

export const actionType = z.enum(['Reboot', 'Drain', 'CustomResource', 'Replace', 'Terminate']);

/** One act; `DrainThenTerminate` of the block is two, `Drain` and `Terminate`. */
export type ActionType = z.output<typeof actionType>;

export const replacement = z.object({
  name: z.string(),
  /** UID of its NodeClaim, known once that was made. */
  uid: z.optional(z.string()),
  /** Name of its Node. */
  node: z.optional(z.string()),
  /** Time at which its taint was first seen to be off. */
  releasedTime: z.optional(instant),
});

/** A NodeClaim that was made to take the place of an unhealthy node. */
export type Replacement = Readonly<z.output<typeof replacement>>;

/** Answer to a drain or a custom resource. `stopped`: a person took it back, and nothing follows. */
export const answer = z.object({ kind: z.enum(['succeeded', 'failed', 'stopped']), message: z.string() });

/** End of an act by its own answer, before its time was over. */
export type ActionAnswer = Readonly<z.output<typeof answer>>;

/** A drain that a repair may have asked for, by the id of its request. */
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
  /** Key of type, template and timeout, which make it the same action (`rule/ladder.ts`). */
  key: z.string(),
  /** End of the time that the action has to work. After it the next action may follow, and a termination counts as stuck. */
  until: instant,
});

/** The deadline that a termination sets on its NodeClaim. */
export const deadlineAnnotation = z.object({
  /** The value that was set, so that it is known as ours (I7). */
  set: z.string(),
  /** The value that somebody else had set before; given back when the attempt is called off. */
  previous: z.optional(z.string()),
});

/** The time that the pods of the node have, and the deadline that its NodeClaim gets for that. */
const podsTime = z.discriminatedUnion('kind', [
  /** Pods have as long as they take. */
  z.object({ kind: z.literal('unbounded') }),
  /**
   * Pods that remain go at that time.
   * @property annotation absent: the deadline that the NodeClaim has is early enough
   */
  z.object({ kind: z.literal('until'), time: instant, annotation: z.optional(deadlineAnnotation) }),
  /** Pods go at once. An earlier version kept nothing else. */
  z.object({ kind: z.literal('none'), annotation: deadlineAnnotation }),
]);

const inPlace = z.extend(anyAttempt, {
  /** Absent for a node that Karpenter does not manage. */
  claim: z.optional(named),
});

/** A request to another controller: its answer, and its id, which is the same for every retry. It is absent in some records of before. */
const request = { requestId: z._default(z.string(), ''), answer: z.optional(answer) };

export const attempt = z.union([
  z.discriminatedUnion('action', [
    /** Reboot of the machine. @property bootID the boot ID before it */
    z.extend(inPlace, { action: z.literal('Reboot'), bootID: z.optional(z.string()) }),
    z.extend(inPlace, { action: z.literal('Drain'), ...request }),
    z.extend(inPlace, { action: z.literal('CustomResource'), ...request }),
    /** Launch of a replacement. @property replacement the NodeClaim that is launched */
    z.extend(anyAttempt, { action: z.literal('Replace'), claim: named, replacement }),
  ]),
  z.extend(anyAttempt, {
    action: z.literal('Terminate'),
    claim: named,
    pods: podsTime,
    /** The replacement that takes the place of the node; its taint was taken off before. */
    replacement: z.optional(replacement),
  }),
  /** Termination without a NodeClaim: the instance is ended in its Auto Scaling group. */
  z.extend(anyAttempt, {
    action: z.literal('Terminate'),
    claim: z.optional(z.undefined()),
    /** Time at which EC2 is asked again, after it refused to say whether the instance ended. */
    askTime: z.optional(instant),
  }),
]);

export type Attempt = Readonly<z.output<typeof attempt>>;

export type AttemptOf<Action extends ActionType> = Extract<Attempt, { readonly action: Action }>;

/** The termination of a NodeClaim. */
export type ClaimTermination = Extract<AttemptOf<'Terminate'>, { readonly claim: object }>;

/** The termination of an instance in its Auto Scaling group. */
export type InstanceTermination = Exclude<AttemptOf<'Terminate'>, ClaimTermination>;
