/** Commands that run Curfew on one machine. */
import { withExamples, type Place } from './place.ts';

export function addStart({ program, output, ends }: Place): void {
  program.commandsGroup('Run it:');
  const start = program
    .command('start')
    .description('play the node repair story on local parts, or watch a cluster')
    .option('--serve', 'stay up and print a kubeconfig for the embedded API server')
    .option('--example <name>', 'as --serve, with an example of examples/: managed-database')
    .option('--port <number>', 'port of the embedded API server with --serve or --example (default: a free one)')
    .option('--data <folder>', 'with --serve: keep objects and records here over restarts (default: they go with it)')
    .option('--kubeconfig <file>', 'a real cluster: observe it, change nothing')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--enforce', 'with --kubeconfig: act')
    .action(async options => {
      const { startCommand } = await import('../start.ts');
      ends(await startCommand(options, { output }));
    });
  withExamples(start, {
    'curfew start': 'two nodes become unhealthy and are repaired: half a minute, on this machine alone',
    'curfew start --serve --port 6443': 'the same stack to play with by kubectl, until Ctrl-C',
    'curfew start --serve --data lab': 'a lab that is as you left it when you start it again',
    'curfew start --kubeconfig ~/.kube/config --context NAME': 'what it would do on your cluster, changing nothing',
  });
}
