/** The program to which the groups of commands are added, and the options that many of them share. */
import type { Command } from 'commander';
import type { CommandOutput } from '../command-output.ts';

export interface Place {
  readonly program: Command;
  readonly output: CommandOutput;
  readonly ends: (exitCode: number) => void;
}

/**
 * Ends the help of a command with examples: whole command lines, as they are typed in a clone and after an
 * installation, each with its purpose.
 */
export function withExamples(command: Command, examples: Readonly<Record<string, string>>): Command {
  const lines = Object.entries(examples).map(([line, purpose]) => `  # ${purpose}\n  npx ${line}\n`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('')}`);
}

/** Options of the commands on a cluster. */
export function onCluster(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, else ~/.kube/config')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)');
}

/** Options of the commands on a deployment in an AWS account. */
export function onDeployment(command: Command): Command {
  return command
    .option('--stack <name>', 'the functions stack; STACK/NAME where it has several deployments', 'Curfew')
    .option('--region <name>', 'default: $AWS_REGION, else that of the AWS profile');
}

/** Aborted by the first Ctrl-C; a second one ends the process at once. */
export function onInterrupt(): AbortSignal {
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  return interruption.signal;
}
