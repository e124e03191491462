/**
 * Decides which of two runs may go on: a call to a port waits until its run has the word. Calls of one run are made in the order in
 * which it asked for them, also those that it asked for at once.
 */
import { aroundCalls, type PortMethodCall } from '../../runtime/around-calls.ts';
import { never, type Lifetime } from '../../runtime/lifetime.ts';
import type { EnvironmentPorts } from '../../runtime/system.ts';
import { describeCall } from './describe-call.ts';
import type { RunName } from './situation.ts';

/** A call that was made. */
export interface MadeCall {
  readonly port: string;
  readonly method: string;
  readonly args: readonly unknown[];
  /** Undefined in a drain. */
  readonly run: RunName | undefined;
  readonly by: string;
  answer?: unknown;
  error?: unknown;
  /** The run died at this call. */
  died?: 'before' | 'after';
}

interface GatedRun {
  readonly lifetime: Lifetime;
  readonly waiting: (() => void)[];
}

/** Ports that tell, and do nothing to anybody. */
const NOT_GATED: ReadonlySet<string> = new Set(['audit', 'metrics', 'clock', 'deadLetters']);

export interface Gate {
  /** The ports of one environment, with every call of a run that is held back until it has the word. */
  around(ports: EnvironmentPorts, by: string, lifetime: Lifetime): EnvironmentPorts;
  /** From now on the calls of that environment are those of the run, and wait. */
  hold(run: RunName, lifetime: Lifetime): void;
  /** Lets the run make up to so many calls. What it does in between happens in microtasks. */
  grant(run: RunName, calls: number): void;
  /** The run stands before a call. */
  isWaiting(run: RunName): boolean;
  /** The run ends where it is: before its next call, or when that was made and before it has the answer. */
  kill(run: RunName, side: 'before' | 'after'): void;
  /** Whoever is about to make a call of that description dies before it; once. */
  dieBefore(description: RegExp): void;
  /** Nothing waits any more. */
  open(): void;
  readonly calls: readonly MadeCall[];
}

export function createGate(): Gate {
  const runs = new Map<RunName, GatedRun>();
  const names = new Map<Lifetime, RunName>();
  const calls: MadeCall[] = [];
  let speaker: RunName | undefined;
  let allowance = 0;
  let dying: 'before' | 'after' | undefined;
  let deadly: RegExp | undefined;

  const make = (port: string, by: string, lifetime: Lifetime, { method, args, proceed }: PortMethodCall): unknown => {
    const run = names.get(lifetime);
    const made: MadeCall = { port, method, args, run, by };
    calls.push(made);
    if (deadly?.test(describeCall(made)) === true) {
      deadly = undefined;
      dying = 'before';
    }
    if (dying !== undefined) {
      made.died = dying;
      const side = dying;
      dying = undefined;
      if (side === 'before') {
        lifetime.end();
        return never();
      }
      const answer = proceed();
      lifetime.end();
      return note(made, answer);
    }
    return note(made, proceed());
  };

  const speaks = (run: RunName | undefined): boolean => {
    if (run === undefined) return true;
    if (run !== speaker || allowance === 0) return false;
    allowance -= 1;
    return true;
  };

  const gated = <Port extends object>(name: string, port: Port, by: string, lifetime: Lifetime): Port =>
    aroundCalls(port, call => {
      const run = names.get(lifetime);
      const held = run === undefined ? undefined : runs.get(run);
      if (held === undefined || (held.waiting.length === 0 && speaks(run))) return make(name, by, lifetime, call);
      return new Promise((resolve, reject) => {
        held.waiting.push(() => {
          try {
            resolve(make(name, by, lifetime, call));
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
      });
    });

  const grant = (run: RunName, count: number): void => {
    speaker = run;
    allowance = count;
    const waiting = runs.get(run)?.waiting ?? [];
    while (allowance > 0 && waiting.length > 0) {
      allowance -= 1;
      waiting.shift()?.();
    }
  };

  return {
    calls,
    around(ports, by, lifetime) {
      const changed = Object.entries(ports).map(([name, port]) => [
        name,
        NOT_GATED.has(name) ? port : gated(name, port, by, lifetime),
      ]);
      return Object.fromEntries(changed) as EnvironmentPorts;
    },
    hold(run, lifetime) {
      runs.set(run, { lifetime, waiting: [] });
      names.set(lifetime, run);
    },
    grant,
    isWaiting: run => (runs.get(run)?.waiting.length ?? 0) > 0,
    kill(run, side) {
      dying = side;
      grant(run, 1);
      dying = undefined;
    },
    dieBefore(description) {
      deadly = description;
    },
    open() {
      const held = [...runs.values()];
      runs.clear();
      names.clear();
      for (const { waiting, lifetime } of held) for (const go of waiting.splice(0)) if (lifetime.alive) go();
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
