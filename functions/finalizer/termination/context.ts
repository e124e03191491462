/** Contexts of terminations: that of all runs, that of the steps of one turn, and the memory of one run. */
import { deletionTimeOf, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { minutes, type EpochMs } from '../../../shared/domain/time.ts';
import type { Deadline } from '../../../shared/domain/termination.ts';
import type { Backoff } from '../../../shared/lifecycle/refusals.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import type { Step, StepOutcome } from './steps.ts';
import { contendedError } from '../../../shared/errors.ts';
import type { FinalizerContext, FinalizerDeps } from '../common/context.ts';
import type { PauseIfNotServed } from '../../../shared/cluster/not-served.ts';
import type { ClaimCache } from './claim-cache.ts';
import type { decide } from './decide.ts';
import type { HookOwner } from './rule/hooks.ts';
import { nextLook } from './rule/turn.ts';
import type { ResourceAnswer } from './rule/hook-progress.ts';
import type { ObservedTermination } from './observe.ts';
import { isLive } from './rule/objects.ts';
import type { KeptSettings, TerminationRecord } from './record.ts';

/** The rules of terminations. Mutants put mistakes in their place. */
export interface ReplaceableRules {
  readonly decide: typeof decide;
  readonly steps: readonly Step<StepContext>[];
}

/** Context of runs about terminations. */
export interface TerminationContext extends FinalizerContext, ReplaceableRules {
  readonly pauseIfNotServed: PauseIfNotServed;
  readonly claimCache: ClaimCache;
}

/** Context that the steps of one turn share: the look that they stand on, the record, and how it is written. */
export interface StepContext {
  readonly deps: FinalizerDeps;
  readonly observed: ObservedTermination;
  readonly now: EpochMs;
  readonly deadline: Deadline | undefined;
  readonly isForced: boolean;
  readonly finalizerNames: readonly string[];
  /** Settings in force now, or when NodePool and policy went; undefined: there never were any, and there are no hooks. */
  readonly settings: KeptSettings | undefined;
  /** The termination in which the hooks of the instance are called. */
  readonly hookOwner: HookOwner;
  readonly reporter: Reporter;
  /** Memory of what this run wrote itself; the same in all of its turns. */
  readonly run: TerminationRunState;
  /** The record as it stands. */
  record(): TerminationRecord;
  /** Writes a change of the record now; false when another run wrote first. */
  saveRecord(change: Partial<TerminationRecord>): Promise<boolean>;
}

/** Memory of one run, shared by all of its turns. */
export interface TerminationRunState {
  /** Number of the attempt on the instance that this run recorded. */
  ownAttempt: number | undefined;
  /** Hooks whose invocation this run recorded, as `name/attempt`. */
  readonly ownHooks: Set<string>;
  /** Answers to hooks, by hook name, until they are in the record. */
  readonly answers: Map<string, ResourceAnswer>;
  /** Changes and steps that may be refused. */
  readonly backoff: Backoff;
  /** UIDs of the Nodes that this run has set out to release. */
  readonly releasedNodes: Set<string>;
  /** Writes of steps that were not made, because the object had changed or gone. */
  lostRaces: number;
}

export const stepDone: StepOutcome = { kind: 'done' };

/** The step is not done. `until`: when to look again at the latest. */
export function waitFor(on: string, until: EpochMs): StepOutcome {
  return { kind: 'notYet', until, on };
}

/** Ends the turn: the next one looks at what this one has changed. */
export const lookAgain = (because: string): StepOutcome => ({ kind: 'progressed', because });

/** Races that one run loses before the call counts as one that fails. */
const LOST_RACES = 3;

/**
 * Ends the turn after a write: the next one looks at what has changed, by it or by somebody else.
 *
 * @throws {RetryableError} `Contended` after three lost races, so that the step counts as failed
 */
export function lookAgainAfter(
  context: StepContext,
  write: { readonly kind: 'ok' | 'notFound' | 'conflict' },
  because: string,
): StepOutcome {
  if (write.kind === 'ok') return lookAgain(because);
  if (context.run.lostRaces++ < LOST_RACES) return lookAgain('it changed in between');
  const answer = write.kind === 'conflict' ? 'conflicts with another change' : 'finds no such object';
  throw contendedError(`a write to what is terminated ${answer}, again and again`);
}

const SAFETY_LOOKS = { least: minutes(1), most: minutes(5) };

/**
 * Time when a step that waits for an event of the cluster looks without one, should it be lost: after a minute, and the longer the termination
 * takes the later, up to five minutes (I5).
 */
export function safetyLook({ now, observed }: StepContext): EpochMs {
  const begin = deletionTimeOf(observed.object) ?? now;
  return nextLook(begin, now, SAFETY_LOOKS);
}

/** The NodeClaim, if there is one, and its Nodes. */
export const claimAndNodes = ({
  observed: { claim, nodes },
}: {
  readonly observed: Pick<ObservedTermination, 'claim' | 'nodes'>;
}): readonly KubernetesObject[] => (claim === undefined ? nodes : [claim, ...nodes]);

/** The Nodes that go. Those of a NodeClaim that never registered, or that shares its instance, are left alone. */
export const terminatingNodes = ({ observed }: StepContext): readonly KubernetesObject[] =>
  observed.nodes.filter(node => !isLive(node));
