/**
 * A situation: what there is, what happened before, the two or three messages that are processed at the same time, and what changes in the
 * world while they are. The explorer tries every order of these within its bounds.
 */
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import type { DurationMs, EpochMs } from '../../shared/domain/time.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import type { ReconcilerFactory } from '../../runtime/functions.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';

/** A message as it is in the inbox, made when it is sent. */
export interface Message {
  /** As people would say it: `wake-up of node n1`. */
  readonly name: string;
  readonly to: FunctionName;
  readonly body: (now: EpochMs) => string;
}

export type Reconcilers = Readonly<Partial<Record<FunctionName, ReconcilerFactory>>>;

/** Which of the runs. */
export type RunName = 'A' | 'B' | 'C';
const RUN_NAMES: readonly RunName[] = ['A', 'B', 'C'];

export const runsOf = ({ messages }: Pick<Situation, 'messages'>): readonly RunName[] =>
  RUN_NAMES.filter(name => messages[name] !== undefined);

/** Something that happens in the cluster without Curfew. */
export interface Change {
  /** `pod p2 created`. */
  readonly name: string;
  readonly apply: (core: ApiServerCore) => void;
  /** The instance that ends with it. */
  readonly ends?: string;
  /**
   * Who hears of it: the run whose message tells of this change, and which therefore begins after it; or a message of its own, which is
   * processed after them. Curfew need not react to a change without a message.
   */
  readonly tells?: RunName | Message;
}

/** One thing that happened before the two messages, with all its consequences. */
export type Earlier =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'change'; readonly change: Change }
  /** Time passes. `unattended`: whatever run begins in this time ends before its first call. */
  | { readonly kind: 'wait'; readonly duration: DurationMs; readonly unattended?: boolean }
  /** The next run that is about to make a call of that description dies before it. */
  | { readonly kind: 'dieBefore'; readonly description: RegExp };

export interface Situation {
  /** A function, or what stands in for one. */
  readonly concern: string;
  readonly name: string;
  /** What stands in for functions. */
  readonly reconcilers?: Reconcilers;
  readonly start: EpochMs;
  readonly objects: readonly KubernetesManifest[];
  /** What made the records and marks that stand there at the beginning: made by the functions themselves. */
  readonly earlier?: readonly Earlier[];
  readonly messages: { readonly A: Message; readonly B: Message; readonly C?: Message };
  /** Takes seconds: `npm test` tries one run after the other only. */
  readonly isLong?: boolean;
  /** No run dies in it: what a crash leaves undone is another outcome: a reboot that was intended and not called, a node that is gone before its repair. */
  readonly isWithoutCrashes?: boolean;
  /** In the order in which they happen. */
  readonly changes?: readonly Change[];
  /** How long the system runs after both messages, until all that was due has happened; default `DEFAULT_AFTERMATH`. */
  readonly aftermath?: DurationMs;
  /** Fields of records that a run that dies leaves uncounted, such as `attempt.number`: then alone they may differ at the end. */
  readonly uncounted?: readonly string[];
  /** Fields of records that two runs may both leave uncounted: they are not compared. */
  readonly inexact?: readonly string[];
  /** Ids of records that hold nothing but what was read, such as `configuration`: whether one is there says nothing. */
  readonly caches?: readonly string[];
  /** Reasons of Events that are said of what a second look finds, such as `NodeRepairScheduled`: it may have passed by then. */
  readonly passing?: readonly string[];
}
