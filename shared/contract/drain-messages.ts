/** The `detail` of `DrainRequested`, by which anybody asks for a drain, and of `DrainCompleted`, which answers it. */
import * as z from './zod.ts';

export const DRAIN_MESSAGE_VERSION = 1;

/** Characters of a reason. */
export const MAX_REASON = 1024;

/** `@__PURE__`: a function that reads no such request carries no schema of it. */
export const drainRequestedSchema = /* @__PURE__ */ z.madeOnce(() => {
  const name = z.string().check(z.minLength(1), z.maxLength(253));
  return z.object({
    schemaVersion: z._default(z.literal(DRAIN_MESSAGE_VERSION), DRAIN_MESSAGE_VERSION),
    cluster: z.optional(z.string()),
    /** The answer carries it, and asking twice with it is asking once. */
    id: name,
    node: z.object({ name, uid: z.optional(z.string()) }),
    /** For people and templates. */
    reason: z._default(z.string().check(z.maxLength(MAX_REASON)), ''),
    /** Every mode is `Immediate`; protection and PodDisruptionBudgets still count. */
    force: z._default(z.boolean(), false),
    /**
     * True: drains all pods at once but those of DaemonSets, whatever the configuration says. Protection and
     * PodDisruptionBudgets still count.
     */
    allPods: z._default(z.boolean(), false),
  });
});
/** As it is sent. Without an id it has that of the bus event. */
export type DrainRequested = Readonly<Omit<z.input<ReturnType<typeof drainRequestedSchema>>, 'id'>> & {
  readonly id?: string | undefined;
};

/** NVSentinel's words. */
export const drainStatusSchema = z.enum(['Succeeded', 'Failed', 'Cancelled', 'AlreadyDrained']);

/** The fields of the answer that the sender of the request reads. */
export const drainCompletedSchema = z.object({
  /** The id of the request. */
  id: z.string(),
  status: drainStatusSchema,
  /** One CamelCase word. */
  reason: z._default(z.string(), ''),
  message: z._default(z.string(), ''),
});
/** As it is sent. Times are in RFC 3339. */
export type DrainCompleted = Readonly<z.output<typeof drainCompletedSchema>> & {
  readonly schemaVersion: typeof DRAIN_MESSAGE_VERSION;
  readonly node: DrainRequested['node'];
  /** Pods evicted or deleted for it. */
  readonly drained: number;
  /** Pods that should have gone and were not waited for. */
  readonly left: readonly string[];
  /** GPUs that the drain was limited to; absent: all pods. */
  readonly entities?: readonly string[];
  readonly startTime: string;
  readonly endTime: string;
  /** As NVSentinel stores it, for who keeps its documents up to date. Only a drain that emptied the node has a finish time. */
  readonly healthEventStatus: {
    readonly userPodsEvictionStatus: Pick<z.output<typeof drainCompletedSchema>, 'status' | 'message'>;
    readonly drainFinishTimestamp?: string;
  };
};
