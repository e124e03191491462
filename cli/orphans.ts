/** `curfew orphans` and `curfew orphans forget`: the ledger of what may have been left behind. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createDueIndex, createRecordStore } from '../shared/adapters/dynamodb/record-store.ts';
import { systemClock } from '../shared/adapters/system-clock.ts';
import { ORPHAN_FORGOTTEN, SOURCES } from '../shared/contract/names.ts';
import { PROCESS_OUTPUT, type CommandOutput } from './command-output.ts';
import { OperationError, orOperationError, readDeployment, readRecordsTable } from './operate/deployment.ts';
import { listOrphans } from './operate/orphans.ts';

export interface OrphansOptions {
  /** Name of the functions stack. */
  readonly stack: string;
  readonly region?: string;
}

/** Exit code 0: each entry is printed, its id first. 2: the account or the table cannot be read. */
export const orphansCommand = (
  { stack, ...options }: OrphansOptions,
  output: CommandOutput = PROCESS_OUTPUT,
): Promise<number> =>
  orExplained(output, async () => {
    const tableName = await readRecordsTable(stack, options);
    const table = { client: new DynamoDBClient(options), tableName };
    const orphans = await orOperationError(`reading the table ${tableName}`, () =>
      listOrphans(createDueIndex(table), createRecordStore(table), systemClock.now()),
    );
    for (const { id, since, text } of orphans) output.out(`${id} since ${since} ${text}\n`);
    output.out(
      orphans.length === 0 ? 'No possible orphan is in the ledger.\n' : `${orphans.length} possible orphans\n`,
    );
  });

/** Exit code 0: the function is told; its audit says what came of it. 2: the id, the account or the inbox cannot be used. */
export const forgetOrphanCommand = (
  id: string,
  { stack, ...options }: OrphansOptions,
  output: CommandOutput = PROCESS_OUTPUT,
): Promise<number> =>
  orExplained(output, async () => {
    if (!/^(instance|object)\/./.test(id)) {
      throw new OperationError(
        `${id} is no id of an entry: curfew orphans prints them, such as instance/aws:///us-west-2a/i-0abc`,
      );
    }
    const finalizer = (await readDeployment(stack, options)).find(({ name }) => name === 'finalizer');
    if (finalizer === undefined) throw new OperationError(`the stack ${stack} has no finalizer function`);
    const body = { source: SOURCES.operator, 'detail-type': ORPHAN_FORGOTTEN, detail: { id } };
    await orOperationError(`sending to ${finalizer.inboxUrl}`, () =>
      new SQSClient(options).send(
        new SendMessageCommand({ QueueUrl: finalizer.inboxUrl, MessageBody: JSON.stringify(body) }),
      ),
    );
    output.out(`the finalizer function forgets ${id}; its audit log has a line about it\n`);
  });

async function orExplained(output: CommandOutput, run: () => Promise<void>): Promise<number> {
  try {
    await run();
    return 0;
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    output.error(`${error.message}\n`);
    return 2;
  }
}
