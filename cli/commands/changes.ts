/** Commands that change a cluster. */
import { Option } from 'commander';
import { onCluster, onInterrupt, withExamples, type Place } from './place.ts';

export function addChanges({ program, output, ends }: Place): void {
  program.commandsGroup('Change a cluster:');
  const drain = onCluster(
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
      ends(await drainCommand(node, { ...options, interrupted: onInterrupt() }, output));
    });
  withExamples(drain, {
    'curfew drain NODE --dry-run': 'every pod, what becomes of it, when, and what blocks it',
    'curfew drain NODE': 'ask for it and follow it; Ctrl-C ends the following, not the drain',
    'curfew drain NODE --cancel': 'take it back',
  });

  const uninstall = onCluster(
    program
      .command('uninstall')
      .description("take termination finalizers off what lives and give Karpenter's own back; after `curfew stop`"),
  )
    .option('--dry-run', 'say what would be done, change nothing')
    .option(
      '--release-holds',
      'take do-not-disrupt and what drains and repairs have written off Nodes, too, end replacements, and name FinalizerRules: when Curfew goes for good',
    )
    .option(
      '--definitions',
      'the same, and at last, when nothing is left to do, delete the definitions with all policies',
    )
    .action(async (options: Record<string, string>) => {
      const { uninstallCommand } = await import('../uninstall.ts');
      ends(await uninstallCommand(options, output));
    });
  withExamples(uninstall, {
    'curfew uninstall --dry-run': 'what it would take off which object',
    'curfew uninstall --release-holds': 'before Curfew goes for good',
  });

  const republish = onCluster(
    program
      .command('republish')
      .description('have the forwarder publish every object again, for functions that missed events'),
  ).action(async (options: Record<string, string>) => {
    const { republishCommand } = await import('../republish.ts');
    ends(await republishCommand(options, output));
  });
  withExamples(republish, { 'curfew republish': 'after queues or functions were deleted and deployed again' });
}
