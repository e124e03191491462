/**
 * The composition root of every function:
 *
 * `export const handler = createHandler('repair', ['kubernetes', 'records', …], createReconciler);`
 *
 * middy and Powertools around the batch; adapters made once per environment, from its variables.
 */
import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { Metrics } from '@aws-lambda-powertools/metrics';
import middy, { type MiddlewareObj } from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { createAuditLog } from '../adapters/log/audit-log.ts';
import { createMetricSink } from '../adapters/log/metrics.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { ENV, requireEnv } from '../contract/env.ts';
import { METRIC_NAMESPACE, serviceNameOf } from '../contract/metrics.ts';
import type { FunctionName } from '../contract/names.ts';
import type { FunctionDeps, Reconcile } from '../ports/function-deps.ts';
import { logFields, withLogFields } from './log-fields.ts';
import { makeDeps, type AdapterName, type CommonAdapterName, type OtherAdapters } from './deps.ts';
import { processBatch, type BatchLog } from './process-batch.ts';
import { DEADLINE_RESERVE_WITH_HOOKS } from './run-time.ts';
import { sqsQueues } from './sqs-queues.ts';

export type BatchHandler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

export interface HandlerOptions<Others> {
  /** Adapters with a client that not every bundle should carry, e.g. `{ instances: ec2Instances }`. */
  readonly otherAdapters?: Others;
}

type MadeBy<Others> = { readonly [Name in keyof Others & keyof FunctionDeps]: FunctionDeps[Name] };

/**
 * @param uses the adapters that the function asks for, beside `audit`, `metrics` and `clock`; its `Deps` type says the same, and the
 *   compiler compares
 */
export function createHandler<Name extends AdapterName, Others extends Partial<OtherAdapters> = object>(
  name: FunctionName,
  uses: readonly Name[],
  makeReconcile: (deps: Pick<FunctionDeps, Name | CommonAdapterName> & MadeBy<Others>) => Reconcile,
  { otherAdapters }: HandlerOptions<Others> = {},
): BatchHandler {
  const serviceName = serviceNameOf(name);
  const logger = new Logger({ serviceName });
  const cluster = requireEnv(process.env, ENV.clusterName);
  const emf = new Metrics({ namespace: METRIC_NAMESPACE, serviceName, defaultDimensions: { cluster } });
  const log = toBatchLog(logger);
  const metrics = createMetricSink(emf);
  // The audit is not a matter of the log level.
  const print = (lines: string): void => void process.stdout.write(lines);
  const audit = createAuditLog({ serviceName, fields: logFields, print, now: () => systemClock.now() });
  const queues = sqsQueues(process.env, { sendsWakeUps: uses.some(adapter => adapter === 'wakeUps') });
  const made = Object.fromEntries(Object.entries(otherAdapters ?? {}).map(([adapter, make]) => [adapter, make()]));
  const { deps, probe } = makeDeps(uses, { name, cluster, env: process.env, audit, metrics, log, queues });
  const reconcile = makeReconcile({ ...deps, ...made } as Pick<FunctionDeps, Name | CommonAdapterName> &
    MadeBy<Others>);

  // middy would answer shortly before the time-out while the batch is still at work; Lambda then keeps the environment, and the work
  // thaws with the next invocation. At its own time-out Lambda ends the process, and the work with it.
  return middy<SQSEvent, SQSBatchResponse>({ timeoutEarlyInMillis: 0 })
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(publishMetrics(emf))
    .handler((event, context) =>
      withLogFields({ function_request_id: context.awsRequestId }, () =>
        processBatch(event, context, {
          process: {
            function: name,
            cluster,
            reconcile,
            clock: systemClock,
            deadLetters: queues.deadLetters,
            metrics,
            ...(probe && { probe }),
          },
          visibility: queues.visibility,
          metrics,
          log,
          clock: systemClock,
          ...(otherAdapters?.hooks !== undefined && { reserve: DEADLINE_RESERVE_WITH_HOOKS }),
        }),
      ),
    );
}

/** As `logMetrics` of Powertools, which writes a warning for each invocation that has no metrics. */
function publishMetrics(metrics: Metrics): MiddlewareObj<SQSEvent, SQSBatchResponse> {
  const publish = (): void => {
    if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
  };
  return {
    before: ({ context }) => metrics.captureColdStartMetric(context.functionName),
    after: publish,
    onError: publish,
  };
}

function toBatchLog(logger: Logger): BatchLog {
  return {
    warn: (message, fields) => logger.warn(message, { ...logFields(), ...fields }),
    error: (message, fields) => logger.error(message, { ...logFields(), ...fields }),
  };
}
