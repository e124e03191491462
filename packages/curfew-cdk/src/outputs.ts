/** Outputs of the stack: what `curfew stop`, `resume`, `redrive` and `audit` work on, and what the forwarder is told. */
import { Aws, CfnOutput, Stack, Stage, type CfnOutputProps } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Schedule } from 'aws-cdk-lib/aws-scheduler';
import type { Construct } from 'constructs';
import type { FunctionName } from '../../../shared/contract/names.ts';
import {
  ALARM_PREFIX_OUTPUT,
  CLUSTER_OUTPUT,
  EVENT_BUS_OUTPUT,
  OPERATION_OUTPUTS,
  operationOutputId,
  RECORDS_TABLE_OUTPUT,
  VERSION_OUTPUT,
  type OperationOutput,
} from '../../../shared/contract/operation-outputs.ts';
import { VERSION } from '../../../shared/contract/version.ts';
import type { CurfewState } from './curfew-state.ts';
import type { FunctionWithInbox } from './function-with-inbox.ts';
import { required } from './required.ts';

export interface Deployed {
  readonly name: string;
  /** Name of the cluster. */
  readonly clusterName: string;
  readonly state: CurfewState;
  readonly table: Pick<ITable, 'tableName'>;
  readonly functions: ReadonlyMap<FunctionName, FunctionWithInbox>;
  readonly ticks: ReadonlyMap<FunctionName, Schedule>;
  /** The construct that has all alarms on metrics. */
  readonly monitoring: Construct;
}

/** The id of a construct that is all of its stack, for logical ids as well as for the names of outputs. */
const ALL_OF_ITS_STACK = 'Default';

export function createOutputs(scope: Construct, deployed: Deployed): void {
  const { name, clusterName, state, table, functions, ticks, monitoring } = deployed;
  const prefix = scope.node.id === ALL_OF_ITS_STACK ? '' : name;
  // The construct of that id would stand beside the function's own; the logical id is what is read.
  const add = (id: string, props: CfnOutputProps): void => {
    new CfnOutput(scope, `OutputOf${id}`, props).overrideLogicalId(`${prefix}${id}`);
  };
  add(EVENT_BUS_OUTPUT, { description: 'EVENT_BUS_NAME of the forwarder', value: state.bus.eventBusName });
  add(CLUSTER_OUTPUT, { description: '`cluster` of every event', value: clusterName });
  add(RECORDS_TABLE_OUTPUT, { value: table.tableName });
  add(ALARM_PREFIX_OUTPUT, { value: `${Aws.STACK_NAME}-${logicalPrefixOf(monitoring)}` });
  add(VERSION_OUTPUT, { description: 'Version of Curfew', value: VERSION });
  for (const [functionName, { eventSourceMappingId, inbox, logGroup }] of functions) {
    const values: Readonly<Record<OperationOutput, string | undefined>> = {
      EventSource: eventSourceMappingId,
      Schedule: ticks.get(functionName)?.scheduleName,
      Inbox: inbox.queueUrl,
      DeadLetters: required(state.deadLetterQueues, functionName).queueUrl,
      LogGroup: logGroup.logGroupName,
    };
    for (const output of OPERATION_OUTPUTS) {
      const value = values[output];
      if (value !== undefined) add(operationOutputId(functionName, output), { value });
    }
  }
}

/** What the logical ids of all that is in a construct begin with, and so the names that CloudFormation gives. */
function logicalPrefixOf({ node }: Construct): string {
  const path = node.scopes.filter(each => !Stack.isStack(each) && !Stage.isStage(each));
  const ids = path.map(each => each.node.id).filter(id => id !== ALL_OF_ITS_STACK);
  return ids.join('').replaceAll(/[^A-Za-z0-9]/g, '');
}
