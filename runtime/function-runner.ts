/**
 * Runs one function's messages in environments as Lambda does: an environment is made when none is free, works on one message at a
 * time, and is used again. A run that takes too long is stopped: none of its calls goes on, and its message comes again.
 */
import type { FunctionName } from '../shared/contract/names.ts';
import { addDuration, type DurationMs } from '../shared/domain/time.ts';
import { processMessage } from '../shared/lambda/process-message.ts';
import type { FunctionDeps, Reconcile } from '../shared/ports/function-deps.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import type { ReconcilerFactory } from './functions.ts';
import type { InboxMessage } from './inbox.ts';
import { createLifetime, whileAlive, type Lifetime } from './lifetime.ts';
import { parseKnownMessage } from './parsed-messages.ts';
import type { Scheduler } from './scheduler.ts';

export interface FunctionRunnerOptions {
  readonly name: FunctionName;
  readonly reconciler: ReconcilerFactory;
  readonly scheduler: Scheduler;
  readonly metrics: MetricSink;
  readonly timeout: DurationMs;
  /** Events of other clusters are parked. */
  readonly cluster: string;
  readonly environment: (lifetime: Lifetime) => RunnerDeps;
  readonly onRun?: (lifetime: Lifetime) => void;
}

export type RunnerDeps = FunctionDeps;

export interface FunctionRunner {
  /** Resolves when the message is done with, rejects when it must come again, never settles when its environment ended. */
  run(message: Pick<InboxMessage, 'body' | 'receiveCount' | 'firstReceived'>): Promise<void>;
}

interface Environment {
  readonly deps: RunnerDeps;
  readonly reconcile: Reconcile;
  readonly lifetime: Lifetime;
}

/**
 * Environments are made by `environment`, without a limit on their number: the inbox limits how many messages are at
 * work.
 */
export function createFunctionRunner(options: FunctionRunnerOptions): FunctionRunner {
  const { name, scheduler, metrics } = options;
  const free: Environment[] = [];

  const create = (): Environment => {
    const lifetime = createLifetime();
    const deps = options.environment(lifetime);
    return { deps, reconcile: options.reconciler(deps), lifetime };
  };

  /** One that ended while it was free is gone. */
  const takeFree = (): Environment | undefined => {
    let environment = free.pop();
    while (environment !== undefined && !environment.lifetime.alive) environment = free.pop();
    return environment;
  };

  return {
    async run({ body, receiveCount, firstReceived }) {
      const environment = takeFree() ?? create();
      const { lifetime, reconcile, deps } = environment;
      const callOff = scheduler.at(addDuration(scheduler.now(), options.timeout), () => lifetime.end());
      const { clock, deadLetters } = deps;
      options.onRun?.(lifetime);
      const { cluster } = options;
      const run = processMessage(
        body,
        receiveCount,
        { function: name, cluster, reconcile, clock, deadLetters, metrics, parse: parseKnownMessage },
        firstReceived === undefined ? {} : { firstReceived },
      );
      try {
        await whileAlive(lifetime, run);
      } finally {
        callOff();
        free.push(environment);
      }
    },
  };
}
