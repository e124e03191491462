/** Commands that run Curfew on one machine. */
import type { Place } from './place.ts';

export function addStart({ program, output, ends }: Place): void {
  program.commandsGroup('Run it:');
  program
    .command('start')
    .description('play the node repair story on local parts, or watch a cluster')
    .option('--serve', 'stay up and print a kubeconfig for the embedded API server')
    .option('--example <name>', 'as --serve, with an example of examples/: managed-database')
    .option('--port <number>', 'port of the embedded API server with --serve or --example')
    .option('--kubeconfig <file>', 'a real cluster: observe it, change nothing')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--enforce', 'with --kubeconfig: act')
    .action(async options => {
      const { startCommand } = await import('../start.ts');
      ends(await startCommand(options, { output }));
    });
}
