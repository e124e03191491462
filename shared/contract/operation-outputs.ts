/** Outputs of the functions stack that the command line reads, `<Function><Output>`, such as `GracePeriodInbox`; infra writes exactly these. */
export const OPERATION_OUTPUTS = ['EventSource', 'Schedule', 'Inbox', 'DeadLetters', 'LogGroup'] as const;
/** The output with the name of the table of records. */
export const RECORDS_TABLE_OUTPUT = 'RecordsTableName';
/** The output with the name of the bus: `EVENT_BUS_NAME` of the forwarder. */
export const EVENT_BUS_OUTPUT = 'EventBusName';
/** The output with the name of the cluster: `cluster` of every event. */
export const CLUSTER_OUTPUT = 'Cluster';
/** The output with the version of what is deployed. */
export const VERSION_OUTPUT = 'Version';
/** The output with what the names of the deployment's alarms on metrics begin with. */
export const ALARM_PREFIX_OUTPUT = 'AlarmPrefix';
/** The composite alarm of a deployment: CloudFormation names the others. */
export const compositeAlarmName = (deployment: string): string => `${deployment}-Impaired`;
export type OperationOutput = (typeof OPERATION_OUTPUTS)[number];

/** `grace-period` and `Inbox` → `GracePeriodInbox`: a logical id has letters and digits only. */
export function operationOutputId(functionName: string, output: OperationOutput): string {
  const words = functionName.split('-').map(word => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}${output}`;
}
