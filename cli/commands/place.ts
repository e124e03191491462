/** Where the groups of commands are added, and the options that many of them share. */
import type { Command } from 'commander';
import type { CommandOutput } from '../command-output.ts';

/** Where commands are added. */
export interface Place {
  readonly program: Command;
  readonly output: CommandOutput;
  readonly ends: (exitCode: number) => void;
}

/** Options of the commands on a cluster. */
export function onCluster(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, else ~/.kube/config')
    .option('--context <name>', 'context of the kubeconfig');
}

/** Options of the commands on a deployment in an AWS account. */
export function onDeployment(command: Command): Command {
  return command
    .option('--stack <name>', 'the functions stack', 'Curfew')
    .option('--region <name>', 'default: $AWS_REGION, else that of the AWS profile');
}
