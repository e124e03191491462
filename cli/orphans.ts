/** `curfew orphans`: the ledger of what may have been left behind. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { QUEUE_URL_IS_A_NAME } from '../shared/adapters/sqs/connect.ts';
import { createDueIndex, createRecordStore } from '../shared/adapters/dynamodb/record-store.ts';
import { systemClock } from '../shared/adapters/system-clock.ts';
import { messageGroupOf } from '../shared/contract/message-group.ts';
import { ORPHAN_FORGOTTEN, SOURCES } from '../shared/contract/names.ts';
import type { CommandOutput } from './command-output.ts';
import { reportingFailure } from './failure.ts';
import { orUsageError, readDeployment, readRecordsTable } from './operate/deployment.ts';
import { listOrphans } from './operate/orphans.ts';
import { UsageError } from './usage-error.ts';

export interface OrphansOptions {
  /** Name of the functions stack. */
  readonly stack: string;
  readonly region?: string;
  /** Id of the entry to close; absent: the entries are listed. */
  readonly forget?: string;
}

/**
 * Exit code 0: each entry is printed, its id first; or the function has the message to forget one, and its audit says what comes of it. 2: the
 * id, the account, the table or the inbox cannot be used.
 */
export function orphansCommand({ forget, ...deployment }: OrphansOptions, output: CommandOutput): Promise<number> {
  return reportingFailure(output, async () => {
    await (forget === undefined ? list(deployment, output) : askToForget(forget, deployment, output));
    return 0;
  });
}

type Deployment = Omit<OrphansOptions, 'forget'>;

async function list({ stack, ...options }: Deployment, output: CommandOutput): Promise<void> {
  const tableName = await readRecordsTable(stack, options);
  const table = { client: new DynamoDBClient(options), tableName };
  const orphans = await orUsageError(`reading the table ${tableName}`, () =>
    listOrphans(createDueIndex(table), createRecordStore(table), systemClock.now()),
  );
  for (const { id, since, text } of orphans) output.out(`${id} since ${since} ${text}\n`);
  const { length } = orphans;
  output.out(
    length === 0
      ? 'No possible orphan is in the ledger.\n'
      : `${length} possible ${length === 1 ? 'orphan' : 'orphans'}\n`,
  );
}

async function askToForget(id: string, { stack, ...options }: Deployment, output: CommandOutput): Promise<void> {
  if (!/^(instance|object)\/./.test(id)) {
    throw new UsageError(
      `--forget ${id} is no id of an entry: curfew orphans prints them, such as instance/aws:///us-west-2a/i-0abc`,
    );
  }
  const finalizer = (await readDeployment(stack, options)).find(({ name }) => name === 'finalizer');
  if (finalizer === undefined) throw new UsageError(`the stack ${stack} has no finalizer function`);
  const body = { source: SOURCES.operator, 'detail-type': ORPHAN_FORGOTTEN, detail: { id } };
  const message = new SendMessageCommand({
    QueueUrl: finalizer.inboxUrl,
    MessageBody: JSON.stringify(body),
    MessageGroupId: messageGroupOf(body.detail),
  });
  await orUsageError(`sending to ${finalizer.inboxUrl}`, () =>
    new SQSClient({ ...options, ...QUEUE_URL_IS_A_NAME }).send(message),
  );
  output.out(`the finalizer function forgets ${id}; its audit log has a line about it\n`);
}
