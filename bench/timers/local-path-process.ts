/**
 * The timers in a DynamoDB on this machine, on real time: the synthesized bundles of the timer and repair functions in processes of
 * their own, SQS, the minute tick. Halfway, those processes and the database are killed, and come back with what was stored.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { serveApiServer } from '../../packages/kube-apiserver/src/http/server.ts';
import { startLocalAws, type LocalAws } from '../../packages/local-aws/src/stack.ts';
import { CLIENT_DEFAULTS } from '../../shared/adapters/aws-errors.ts';
import { createDueIndex, createRecordStore } from '../../shared/adapters/dynamodb/record-store.ts';
import { createWakeUpSender } from '../../shared/adapters/sqs/wake-up-sender.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { CLUSTER_PARAMETERS, ENV } from '../../shared/contract/env.ts';
import { addDuration, durationBetween, seconds, toDurationMs, toEpochMs } from '../../shared/domain/time.ts';
import { invariant } from '../../shared/errors.ts';
import type { RecordStore } from '../../shared/ports/record-store.ts';
import { answerQuestions } from '../measure/answering.ts';
import { readUsage } from '../measure/usage.ts';
import { recordFor, timerAt, type TimerPlan } from './armed.ts';
import { createLatenessLog, type LatenessLog } from './lateness.ts';
import { planSchema, SWEEPS, type TimersProgress, type TimersReport } from './report.ts';
import { measureSweep, type Sweep } from './sweep.ts';

/** As many processes of a function as the template allows; the machine has fewer cores, but they mostly wait. */
const MAX_CONCURRENCY = 5;
/** Timers that are armed at once. */
const CONCURRENCY = 16;
/** From the arming of the last timers to the first that is due. */
const LEAD_IN = seconds(20);
/** Two minutes and a half: a tick that was killed comes again a minute later. */
const WAIT_FOR_LATE_MS = 150_000;
const POLL_MS = 250;

const runSchema = planSchema.extend({ assemblyDir: z.string() });

let progress: TimersProgress = { what: 'starting', done: 0, of: 1 };

answerQuestions({ progress: () => progress, run: argument => run(runSchema.parse(argument)) });

async function run({ assemblyDir, armed, due, windowMs }: z.infer<typeof runSchema>): Promise<TimersReport> {
  let log: LatenessLog | undefined;
  const core = createApiServer({ clock: systemClock });
  const server = await serveApiServer(core, {
    now: () => systemClock.now(),
    log: ({ url }) => log?.looked(nodeNameIn(url), systemClock.now()),
  });
  const aws = await startLocalAws({
    assemblyDir,
    parameters: { [CLUSTER_PARAMETERS.name]: 'bench' },
    env: { [ENV.clusterName]: 'bench', [ENV.clusterEndpoint]: server.url, [ENV.clusterCertificateAuthority]: '' },
    maxConcurrency: MAX_CONCURRENCY,
  });
  const clients = connect(aws);
  try {
    const { records, dueIndex, wakeUps } = clients;
    // None is due yet: the window begins when the rest is armed.
    const later: TimerPlan = { armed, due: 0, windowStart: systemClock.now(), window: toDurationMs(windowMs) };
    const startTime = performance.now();
    await inParallel(due, armed, index => putNew(records, recordFor(timerAt(later, index))));
    const armMs = performance.now() - startTime;
    const writes = clients.writes();

    const quiet: Sweep[] = [];
    for (let sweep = 0; sweep < SWEEPS; sweep += 1) quiet.push(await measureSweep(dueIndex, systemClock.now()));

    const plan = { ...later, due, windowStart: addDuration(systemClock.now(), LEAD_IN) };
    const timers = Array.from({ length: due }, (_unused, index) => timerAt(plan, index));
    log = createLatenessLog(timers);
    await inParallel(0, due, async index => {
      const timer = timers[index];
      invariant(timer !== undefined, 'every index has its timer');
      // One half as a function arms a near timer; the other as if it had been armed long ago, which only the sweep finds.
      const { owner, subject } = recordFor(timer);
      await putNew(records, recordFor(timer));
      const delay = durationBetween(systemClock.now(), timer.dueTime);
      if (index % 2 === 0) await wakeUps.send([{ wakeUp: { owner, subject, wakeTime: timer.dueTime }, delay }]);
    });
    const busy: Sweep[] = [];
    for (let sweep = 0; sweep < SWEEPS; sweep += 1) busy.push(await measureSweep(dueIndex, plan.windowStart));

    await throughWindow(aws, plan, log);
    return {
      store: aws.dynamoDb.implementation,
      armMs,
      writes,
      quiet,
      busy,
      heapUsedBytes: readUsage().heapUsedBytes,
      lateness: [...log.lateness()],
      lost: log.open(),
    };
  } finally {
    clients.close();
    await aws.stop();
    await server.close();
  }
}

/** Waits until everything that is due was looked at, with a crash of everything but the queues in the middle. */
async function throughWindow(aws: LocalAws, { due, windowStart, window }: TimerPlan, log: LatenessLog): Promise<void> {
  const middle = toEpochMs(windowStart + window / 2);
  const end = windowStart + window + WAIT_FOR_LATE_MS;
  let crashed = false;
  while (log.open() > 0 && systemClock.now() < end) {
    progress = { what: 'watching timers', done: due - log.open(), of: due };
    if (!crashed && durationBetween(middle, systemClock.now()) >= 0) {
      crashed = true;
      await Promise.all([aws.restartDynamoDb(), aws.killFunction('repair'), aws.killFunction('timer')]);
    }
    await sleep(POLL_MS);
  }
}

function connect(aws: LocalAws) {
  const { region, tables, functions } = aws.model;
  const [table] = tables;
  const repair = functions.find(({ name }) => name === 'repair');
  invariant(table !== undefined && repair !== undefined, 'the app has a table and the repair function');
  const credentials = {
    accessKeyId: aws.clientEnv['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: aws.clientEnv['AWS_SECRET_ACCESS_KEY'] ?? '',
  };
  const common = { ...CLIENT_DEFAULTS, region, credentials };
  const client = new DynamoDBClient({ ...common, endpoint: aws.endpoints.dynamoDb });
  const sqs = new SQSClient({ ...common, endpoint: aws.endpoints.sqs });
  let writes = 0;
  client.middlewareStack.add(
    (next, { commandName }) =>
      args => {
        if (commandName !== 'QueryCommand' && commandName !== 'GetItemCommand') writes += 1;
        return next(args);
      },
    // Behind the retries: each attempt counts.
    { step: 'finalizeRequest', priority: 'low' },
  );
  const inboxUrls = z.record(z.string(), z.string()).parse(JSON.parse(repair.environment[ENV.inboxUrls] ?? '{}'));
  const options = { client, tableName: table.TableName };
  return {
    records: createRecordStore(options),
    dueIndex: createDueIndex(options),
    wakeUps: createWakeUpSender({ client: sqs, inboxUrls }),
    writes: () => writes,
    close() {
      client.destroy();
      sqs.destroy();
    },
  };
}

async function putNew(records: RecordStore, record: Parameters<RecordStore['put']>[0]): Promise<void> {
  const outcome = await records.put(record, 0);
  if (outcome.kind !== 'written') throw new Error(`${record.id} was not written`);
}

async function inParallel(from: number, to: number, job: (index: number) => Promise<unknown>): Promise<void> {
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < to) {
      const index = next;
      next += 1;
      await job(index);
      progress = { what: 'arming', done: index, of: to };
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

/** The node's name in `/api/v1/nodes/NAME`, else the empty text. */
function nodeNameIn(url: string): string {
  return /^\/api\/v1\/nodes\/([^/?]+)/.exec(url)?.[1] ?? '';
}
