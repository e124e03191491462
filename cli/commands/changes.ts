/** Commands that change a cluster. */
import { Option } from 'commander';
import { onCluster, type Place } from './place.ts';

export function addChanges({ program, output, ends }: Place): void {
  program.commandsGroup('Change a cluster:');
  onCluster(
    program
      .command('drain')
      .description('ask for the drain of a node, say what becomes of every pod, and follow it')
      .argument('<node>', 'name of the Node')
      .option('--dry-run', 'say what would become of every pod, change nothing')
      .option('--cancel', 'withdraw the request, or uncordon the node of a drain that others asked for'),
  )
    .addOption(
      new Option('--output <form>', 'what to print; json: the plan of a dry run, else how the drain ended')
        .choices(['text', 'json'])
        .default('text'),
    )
    .action(async (node: string, options: Record<string, string>) => {
      const { drainCommand } = await import('../drain.ts');
      const interruption = new AbortController();
      process.once('SIGINT', () => interruption.abort());
      ends(await drainCommand(node, { ...options, interrupted: interruption.signal }, output));
    });

  onCluster(
    program
      .command('uninstall')
      .description("take termination finalizers off what lives and give Karpenter's own back; after `curfew stop`"),
  )
    .option('--dry-run', 'say what would be done, change nothing')
    .option(
      '--release-holds',
      'take do-not-disrupt and the marks of drains off Nodes, too, and name FinalizerRules: when Curfew goes for good',
    )
    .action(async (options: Record<string, string>) => {
      const { uninstallCommand } = await import('../uninstall.ts');
      ends(await uninstallCommand(options, output));
    });

  onCluster(
    program
      .command('republish')
      .description('have the forwarder publish every object again, for functions that missed events'),
  ).action(async (options: Record<string, string>) => {
    const { republishCommand } = await import('../republish.ts');
    ends(await republishCommand(options, output));
  });
}
