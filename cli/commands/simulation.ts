/** Commands that run it on virtual time. */
import { Option } from 'commander';
import type { CompareOptions } from '../compare.ts';
import type { SearchOptions } from '../search.ts';
import type { SimulateOptions } from '../simulate.ts';
import { onInterrupt, withExamples, type Place } from './place.ts';

export function addSimulation({ program, output, ends }: Place): void {
  program.commandsGroup('Simulate it:');
  const simulate = program
    .command('simulate')
    .description('run scenario files on virtual time')
    .argument('<files...>', 'scenario files; - is standard input')
    .option('--seed <number>', 'seed of every random choice (default: 1)')
    .option('--seeds <range>', 'run each seed of A..B')
    .addOption(new Option('--faults <mix>', 'faults to inject').choices(['none', 'light', 'heavy']).default('none'))
    .addOption(
      new Option('--output <form>', 'what to print; json: a report a line for each run; jsonl: the trace')
        .choices(['text', 'json', 'jsonl'])
        .default('text'),
    )
    .option('--only <node>', 'text about some nodes alone: node=web-1, or node=web-1,web-2 (default: all)')
    .option('--no-writes', 'text without writes')
    .option('--html <file>', 'write the run as a page: one file, which opens from disk (default: no page)')
    .action(async (files: string[], options: SimulateOptions) => {
      const { simulateCommand } = await import('../simulate.ts');
      ends(await simulateCommand(files, { ...options, interrupted: onInterrupt() }, output));
    });
  withExamples(simulate, {
    'curfew simulate examples/scenarios/repair-empty-block-means-on.yaml':
      'what happens, and whether it is as expected',
    'curfew simulate my.yaml --seeds 1..50 --faults heavy': 'the same under crashes, delays and lost answers',
    'curfew simulate my.yaml --only node=web-1 --no-writes': 'what became of one node, and why',
    'curfew simulate my.yaml --html day.html': 'the day on one page, to click through',
    'curfew simulate my.yaml --output jsonl': 'each write, Event and decision, one JSON object a line',
  });

  const compare = program
    .command('compare')
    .description('say what differs between two scenarios, or between two sets of policies on one')
    .argument('<files...>', 'two scenario files, or one with two --policies; FILE#NAME when a file holds several')
    .option(
      '--policies <path...>',
      'manifests in the place of those in the scenario: two files or folders (default: none)',
    )
    .addOption(new Option('--output <form>', 'what to print').choices(['text', 'json']).default('text'))
    .option('--html <file>', 'write both runs as a page, side by side (default: no page)')
    .action(async (files: string[], options: CompareOptions) => {
      const { compareCommand } = await import('../compare.ts');
      ends(await compareCommand(files, options, output));
    });
  withExamples(compare, {
    'curfew compare today.yaml tomorrow.yaml': 'what else would have happened, and to which nodes',
    'curfew compare day.yaml --policies old.yaml new.yaml --html diff.html': 'one day under two policies',
  });

  const explore = program
    .command('explore')
    .description('run two messages at once in every order, and look for one that ends wrongly')
    .argument('[concerns...]', 'kernel, repair, grace-period, timer, finalizer or drain (default: all)')
    .option('--small', 'the size of npm test')
    .action(async (concerns: string[], options: { small?: boolean }) => {
      const { exploreCommand } = await import('../explore.ts');
      ends(await exploreCommand(concerns, options, output));
    });
  withExamples(explore, { 'curfew explore repair --small': 'one function, half a minute' });

  const swarm = program
    .command('swarm')
    .description('run random clusters under random faults and watch every invariant')
    .option('--seeds <range>', 'each seed of A..B (default: 1..200)')
    .addOption(
      new Option('--faults <mix>', 'one mix for all; each seed draws its own otherwise').choices([
        'none',
        'light',
        'heavy',
      ]),
    )
    .option('--ci', 'the fixed seeds of continuous integration, and every scenario that ever failed')
    .option('--jobs <number>', 'threads (default: one a core)')
    .option(
      '--failures <folder>',
      'where to write what failed (default: curfew-swarm in the folder for temporary files)',
    )
    .action(async (options: Record<string, string>) => {
      const { swarmCommand } = await import('../swarm.ts');
      ends(await swarmCommand({ ...options, interrupted: onInterrupt() }, output));
    });
  withExamples(swarm, {
    'curfew swarm --seeds 1..100': 'some minutes; a seed that fails is written as a small scenario',
  });

  const search = program
    .command('search')
    .description('vary the random runs that reach new code, and watch every invariant')
    .option('--seeds <range>', 'seeds to begin with, A..B (default: 1..50)')
    .option('--variations <number>', 'how many runs after those (default: 200)')
    .option('--seed <number>', 'which variations (default: 1)')
    .option('--corpus <file>', 'names of runs to begin with too, rewritten with what is kept (default: none)')
    .option('--jobs <number>', 'threads (default: one a core)')
    .option(
      '--failures <folder>',
      'where to write what failed (default: curfew-swarm in the folder for temporary files)',
    )
    .action(async (options: SearchOptions) => {
      const { searchCommand } = await import('../search.ts');
      ends(await searchCommand(options, output));
    });
  withExamples(search, {
    'curfew search --variations 500 --corpus corpus.txt': 'goes on from what the last search kept',
  });
}
