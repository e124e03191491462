/** Commands that run it on virtual time. */
import { Option } from 'commander';
import type { Place } from './place.ts';

export function addSimulation({ program, output, ends }: Place): void {
  program.commandsGroup('Simulate it:');
  program
    .command('simulate')
    .description('run scenario files on virtual time')
    .argument('<files...>', 'scenario files')
    .option('--seed <number>', 'seed of every random choice')
    .option('--seeds <range>', 'run each seed of A..B')
    .addOption(new Option('--faults <mix>', 'faults to inject').choices(['none', 'light', 'heavy']).default('none'))
    .addOption(new Option('--output <form>', 'what to print').choices(['text', 'json', 'jsonl']).default('text'))
    .action(async (files: string[], options: Record<string, string>) => {
      const { simulateCommand } = await import('../simulate.ts');
      ends(await simulateCommand(files, options, output));
    });

  program
    .command('explore')
    .description('run two messages at once in every order, and look for one that ends wrongly')
    .argument('[concerns...]', 'default: all')
    .option('--small', 'the size of npm test')
    .action(async (concerns: string[], options: { small?: boolean }) => {
      const { exploreCommand } = await import('../explore.ts');
      ends(await exploreCommand(concerns, options, output));
    });

  program
    .command('swarm')
    .description('run random clusters under random faults and watch every invariant')
    .option('--seeds <range>', 'each seed of A..B (default: 1..200, with --mutants those of --ci)')
    .addOption(
      new Option('--faults <mix>', 'one mix for all; each seed draws its own otherwise').choices([
        'none',
        'light',
        'heavy',
      ]),
    )
    .option('--ci', 'the fixed seeds of continuous integration, and every scenario that ever failed')
    .option('--mutants', 'prove that the invariants find mistakes: run with one mistake at a time until it is found')
    .option('--jobs <number>', 'threads (default: one per core)')
    .option('--failures <folder>', 'where to write what failed')
    .action(async (options: Record<string, string>) => {
      const { swarmCommand } = await import('../swarm.ts');
      ends(await swarmCommand(options, output));
    });
}
