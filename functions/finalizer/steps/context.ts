/** What the steps of a termination share: the look that they stand on, what is remembered, and how it is told. */
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, seconds, type EpochMs } from '../../../shared/domain/time.ts';
import type { Deadline, TerminationSettings } from '../../../shared/domain/termination.ts';
import type { Report, Reporter } from '../../../shared/lifecycle/reporter.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import type { Look } from '../observe.ts';
import type { TerminationRecord } from '../record.ts';

export type TerminationDeps = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'instances' | 'events' | 'audit' | 'metrics' | 'clock' | 'hooks'
>;

export interface TerminationContext {
  readonly deps: TerminationDeps;
  readonly look: Look;
  readonly now: EpochMs;
  readonly deadline: Deadline | undefined;
  readonly forced: boolean;
  readonly finalizerNames: readonly string[];
  /** In force, or undefined when NodePool and policy are gone: no hooks then. */
  readonly settings: TerminationSettings | undefined;
  readonly reporter: Reporter;
  /** What this run wrote itself; the same in all of its turns. */
  readonly run: RunMemory;
  /** The record as it stands. */
  progress(): TerminationRecord;
  /** Writes a change of the record now; false when another run wrote first. */
  remember(change: Partial<TerminationRecord>): Promise<boolean>;
}

export interface RunMemory {
  /** Number of the attempt on the instance that this run recorded. */
  ownAttempt: number | undefined;
  /** Hooks whose invocation this run recorded, as `name/attempt`. */
  readonly ownHooks: Set<string>;
  /** Something was carried out, and the next look starts from there. */
  progressed: boolean;
}

/** How long a step waits for news of the cluster before it looks by itself. */
export const CLUSTER_CHECK = seconds(5);

export const stepDone: StepOutcome = { kind: 'done' };

export function waitFor(on: string, until: EpochMs): StepOutcome {
  return { kind: 'notYet', until, on };
}

/** Ends the turn: the next one looks at what this one has changed. */
export function lookAgain(context: TerminationContext, because: string): StepOutcome {
  context.run.progressed = true;
  return waitFor(because, context.now);
}

export const soon = ({ now }: TerminationContext): EpochMs => addDuration(now, CLUSTER_CHECK);

/** Tells of NodeClaim and Nodes alike. */
export async function tell(context: TerminationContext, report: Omit<Report, 'about'>): Promise<void> {
  const { claim, nodes } = context.look;
  const [first, ...others] = [...(claim === undefined ? [] : [claim]), ...nodes];
  if (first === undefined) return;
  await context.reporter.report({ ...report, about: first });
  if (report.event === undefined) return;
  const { type, reason = report.reason, message = report.message } = report.event;
  for (const about of others) await context.deps.events.record({ type, reason, message, about });
}

export const isLive = (node: KubernetesObject): boolean => node.metadata.deletionTimestamp === undefined;

/** The Nodes that go. Those of a NodeClaim that never registered, or that shares its instance, are left alone (L42). */
export const leaving = ({ look }: TerminationContext): readonly KubernetesObject[] =>
  look.nodes.filter(node => !isLive(node));
