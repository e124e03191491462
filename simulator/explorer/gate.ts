/**
 * Holds every port call of two runs back until its run is told to make it. A run's calls are made one by one, in the order in which it
 * asked for them, also those that it asked for at once.
 */
import { aroundCalls, type PortMethodCall } from '../../runtime/around-calls.ts';
import { never, type Lifetime } from '../../runtime/lifetime.ts';
import type { EnvironmentPorts } from '../../runtime/system-parts.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import { describeCall } from './describe-call.ts';
import type { RunName } from './situation.ts';

/** Where a run stops for good: before a call has its effect, or before the run has the answer. */
export type Death = 'before' | 'after';

/** A call that was made. */
export interface MadeCall {
  readonly port: string;
  readonly method: string;
  readonly args: readonly unknown[];
  /** Undefined: neither of the two. */
  readonly run: RunName | undefined;
  readonly by: string;
  answer?: unknown;
  error?: unknown;
  died?: Death;
}

interface HeldCall {
  readonly made: MadeCall;
  readonly proceed: () => unknown;
  readonly settle: (answer: unknown) => void;
}

interface HeldRun {
  readonly lifetime: Lifetime;
  readonly waiting: HeldCall[];
}

/** Ports that only tell. */
const NOT_GATED: ReadonlySet<string> = new Set(['audit', 'metrics', 'clock', 'deadLetters']);

export interface Gate {
  /** The ports of one environment with the gate around them. */
  around(ports: EnvironmentPorts, by: string, lifetime: Lifetime): EnvironmentPorts;
  /** From now on the calls of that environment are those of the run, and wait. */
  hold(run: RunName, lifetime: Lifetime): void;
  /** The call that the run stands before; undefined: it has ended, or sleeps. */
  next(run: RunName): MadeCall | undefined;
  /** The run waits for time to pass. */
  isAsleep(run: RunName): boolean;
  /** The run makes its next call, or dies at it. What it does then happens in microtasks. */
  step(run: RunName, death?: Death): void;
  /** The next time that somebody is about to make a call of that description he dies before it. */
  dieBefore(description: RegExp): void;
  /** Nobody has made such a call yet. */
  readonly isDeathDue: boolean;
  /** Nothing waits any more. */
  open(): void;
  /** All calls, in the order in which they were made. */
  readonly calls: readonly MadeCall[];
}

/** Ports in `NOT_GATED` pass at once: they tell, and nobody in the schedule reads them. */
export function createGate(): Gate {
  const runs = new Map<RunName, HeldRun>();
  const names = new Map<Lifetime, RunName>();
  const calls: MadeCall[] = [];
  const sleepers = new Set<Lifetime>();
  let deadly: RegExp | undefined;

  const isDeadly = (made: MadeCall): boolean => {
    if (deadly?.test(describeCall(made)) !== true) return false;
    deadly = undefined;
    return true;
  };

  const pass = (made: MadeCall, lifetime: Lifetime, { proceed }: PortMethodCall): unknown => {
    calls.push(made);
    if (!isDeadly(made)) return note(made, proceed());
    made.died = 'before';
    lifetime.end();
    return never();
  };

  const gated = <Port extends object>(port: string, target: Port, by: string, lifetime: Lifetime): Port =>
    aroundCalls(target, call => {
      const { method, args, proceed } = call;
      const run = names.get(lifetime);
      const made: MadeCall = { port, method, args, run, by };
      const held = run === undefined ? undefined : runs.get(run);
      if (held === undefined) return pass(made, lifetime, call);
      return new Promise(settle => {
        held.waiting.push({ made, proceed, settle });
      });
    });

  return {
    calls,
    around(ports, by, lifetime) {
      const gatedPorts = Object.entries(ports)
        .filter(([name]) => !NOT_GATED.has(name))
        .map(([name, port]) => [name, gated(name, port, by, lifetime)] as const);
      const clock: Clock = {
        now: () => ports.clock.now(),
        async sleep(duration, signal) {
          sleepers.add(lifetime);
          await ports.clock.sleep(duration, signal);
          sleepers.delete(lifetime);
        },
      };
      return { ...ports, ...Object.fromEntries(gatedPorts), clock };
    },
    hold(run, lifetime) {
      runs.set(run, { lifetime, waiting: [] });
      names.set(lifetime, run);
    },
    next: run => runs.get(run)?.waiting[0]?.made,
    isAsleep(run) {
      const held = runs.get(run);
      return held !== undefined && held.waiting.length === 0 && sleepers.has(held.lifetime);
    },
    step(run, death) {
      const held = runs.get(run);
      const call = held?.waiting.shift();
      if (held === undefined || call === undefined) return;
      const { made, proceed, settle } = call;
      calls.push(made);
      if (death !== undefined) {
        made.died = death;
        held.waiting.length = 0;
      }
      if (death === 'before') return held.lifetime.end();
      const answer = note(made, proceed());
      if (death === 'after') held.lifetime.end();
      settle(answer);
    },
    dieBefore(description) {
      deadly = description;
    },
    get isDeathDue() {
      return deadly !== undefined;
    },
    open() {
      const held = [...runs.values()];
      runs.clear();
      names.clear();
      for (const { waiting } of held) {
        for (const { made, proceed, settle } of waiting.splice(0)) {
          calls.push(made);
          settle(note(made, proceed()));
        }
      }
    },
  };
}

function note(made: MadeCall, answer: unknown): unknown {
  if (!(answer instanceof Promise)) {
    made.answer = answer;
    return answer;
  }
  return answer.then(
    (value: unknown) => {
      made.answer = value;
      return value;
    },
    (error: unknown) => {
      made.error = error;
      throw error;
    },
  );
}
