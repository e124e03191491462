/** `curfew doctor`: whether an installation can do its work. It asks and changes nothing. */
import { LambdaClient } from '@aws-sdk/client-lambda';
import { systemClock } from '../shared/adapters/system-clock.ts';
import { VERSION } from '../shared/contract/version.ts';
import { onOneLine } from '../shared/domain/printable.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { CommandOutput } from './command-output.ts';
import { checksOfCluster, FOLLOW } from './doctor/cluster.ts';
import { checksOfClusterAccess } from './doctor/cluster-access.ts';
import { failed, findingText, note, ok, runChecks, warning, type Check, type Finding } from './doctor/finding.ts';
import {
  checksOfDeadLetters,
  checksOfInboxes,
  checksOfParts,
  clusterOf,
  readFunction,
  type RunningFunction,
} from './doctor/parts.ts';
import { checksOfSignals } from './doctor/signals.ts';
import { describeFailure, reportingFailure } from './failure.ts';
import { onKubeconfig } from './on-kubeconfig.ts';
import { isOfThisMachine, readBusName, readDeployment, readRecordsTable, readVersion } from './operate/deployment.ts';
import { UsageError } from './usage-error.ts';

export interface DoctorOptions {
  /** Name of the functions stack. Without it and without a cluster, both are looked at where they are by default. */
  readonly stack?: string;
  readonly region?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Exit code 0: nothing failed. 1: something did, or could not be asked, and each says what to do. 2: neither the stack nor the cluster can be reached. */
export function doctorCommand(
  options: DoctorOptions,
  output: CommandOutput,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<number> {
  return reportingFailure(output, async () => {
    const { stack, region, kubeconfig, context } = options;
    const namesCluster = kubeconfig !== undefined || context !== undefined;
    const onStack = stack !== undefined || !namesCluster;
    const onCluster = namesCluster || stack === undefined;
    const findings: Finding[] = [];
    const unread: string[] = [];
    /** The other half is worth the more where one cannot be asked. */
    const lookAt = async (subject: string, look: () => Promise<readonly Finding[]>): Promise<void> => {
      try {
        findings.push(...(await look()));
      } catch (error) {
        const { exitCode, message } = describeFailure(error);
        if (exitCode === 1) throw error;
        unread.push(message);
        findings.push(failed(subject, message, 'nothing of it was looked at: put this right, and ask again'));
      }
    };
    const client = region === undefined ? {} : { region };
    const stackName = stack ?? 'Curfew';
    let isLocal = false;
    if (onStack) {
      await lookAt(`stack ${stackName}`, async () => {
        isLocal = await isOfThisMachine(stackName, client);
        return (isLocal ? lookAtLocalStack : lookAtStack)(stackName, client, clock);
      });
    }
    if (onCluster) {
      const choice = { ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) };
      await lookAt('cluster', () =>
        onKubeconfig(choice, (cluster, transport) => runChecks(checksOfCluster(cluster, transport, isLocal))),
      );
    }
    if (unread.length === findings.length) throw new UsageError(unread.join('; '));
    for (const finding of findings) output.out(findingText(oneLineEach(finding)));
    const count = (state: Finding['state']): number => findings.filter(each => each.state === state).length;
    const counts = (['failed', 'warning', 'skipped'] as const).map(state => `${count(state)} ${state}`);
    output.out(`${count('ok')} ok, ${counts.join(', ')}\n`);
    return count('failed') + count('skipped') > 0 ? 1 : 0;
  });
}

/** Puts a finding on one line, since the message of a server may span several. */
const oneLineEach = ({ says, ...finding }: Finding): Finding => ({ ...finding, says: onOneLine(says) });

async function lookAtStack(
  stack: string,
  options: { readonly region?: string },
  clock: Pick<Clock, 'now'>,
): Promise<readonly Finding[]> {
  const deployed = await readDeployment(stack, options);
  const tableName = await readRecordsTable(stack, options);
  const busName = await readBusName(stack, options);
  const lambda = new LambdaClient(options);
  const found = new Map<string, RunningFunction>();
  const read = await runChecks(
    deployed.map(fn => ({
      subject: `function ${fn.name}`,
      needs: 'lambda:GetEventSourceMapping and lambda:GetFunctionConfiguration',
      look: async () => {
        found.set(fn.name, await readFunction(lambda, fn));
        return [ok(`function ${fn.name}`, 'is there')];
      },
    })),
  );
  // In the order of the stack, whichever was answered first.
  const running = deployed.flatMap(({ name }) => found.get(name) ?? []);
  const clusterName = clusterOf(running);
  const parts = [checkOfVersion(stack, options), ...checksOfParts(deployed, tableName, { ...options, stack })];
  if (clusterName === undefined) return [...read, ...(await runChecks(parts))];
  return [
    ...read,
    ...(await runChecks([
      ...parts,
      ...checksOfClusterAccess(clusterName, running, options),
      ...checksOfSignals({ stack, busName, clusterName, now: clock.now() }, options),
    ])),
  ];
}

const checkOfVersion = (stack: string, options: { readonly region?: string }): Check => ({
  subject: 'version',
  needs: 'cloudformation:DescribeStacks',
  look: async () => {
    const deployed = await readVersion(stack, options);
    if (deployed === VERSION) return [ok('version', deployed)];
    const remedy = 'use the command of that version, or update: docs/deploying.md, "Updating and removing"';
    return [warning('version', `${deployed} is deployed, this command is ${VERSION}`, remedy)];
  },
});

/** `npm start -- --serve` has queues; the rest of AWS is not there. */
async function lookAtLocalStack(stack: string, options: { readonly region?: string }): Promise<readonly Finding[]> {
  const deployed = await readDeployment(stack, options);
  const checks = [
    checkOfVersion(stack, options),
    ...checksOfInboxes(deployed, options),
    ...checksOfDeadLetters(deployed, { ...options, stack }),
  ];
  const says =
    'is of npm start -- --serve, on this machine: event sources, ticks, alarms, access entries, backups and quotas are in AWS alone';
  return [note(`stack ${stack}`, says, FOLLOW), ...(await runChecks(checks))];
}
