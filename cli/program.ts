/** The commands. They load lazily, so that each starts as fast as its own parts allow. */
import { Argument, Command, CommanderError, Option } from 'commander';
import packageFile from '../package.json' with { type: 'json' };
import { PROCESS_OUTPUT, type CommandOutput } from './command-output.ts';
import { reportFailure } from './failure.ts';
import { UsageError } from './usage-error.ts';
import type { OrphansOptions } from './orphans.ts';
import type { RedriveCommandOptions } from './redrive.ts';
import type { SwitchOptions } from './stop-resume.ts';

/**
 * Runs one command line in this process, e.g. `['explain', 'node', 'n1']`. Resolves to the exit code: 0, 1 (a bug, or something that does
 * not hold), or 2 (what the user can put right, with one line that says what to do).
 */
export async function runCommandLine(args: readonly string[], output: CommandOutput = PROCESS_OUTPUT): Promise<number> {
  let exitCode = 0;
  const program = createProgram(output, code => (exitCode = code));
  try {
    refuseSilentMistakes(args);
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Help is no error. What was asked for cannot be done: 2, as everywhere else.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return reportFailure(error, output);
  }
}

/** What the parser takes and nobody means. */
function refuseSilentMistakes(args: readonly string[]): void {
  if (args.includes('')) throw new UsageError('an argument is empty: is it a variable of the shell that is not set?');
  const options = args.filter(arg => /^--[a-z]/.test(arg)).map(arg => arg.split('=')[0] ?? arg);
  const twice = options.find((option, index) => options.indexOf(option) !== index);
  if (twice !== undefined) throw new UsageError(`${twice} is given twice: give it once`);
}

function createProgram(output: CommandOutput, ends: (exitCode: number) => void): Command {
  const program = new Command('curfew')
    .description('Serverless node-lifecycle controller for Kubernetes on AWS')
    .version(packageFile.version)
    .showHelpAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: output.out, writeErr: output.error });

  const place = { program, output, ends };
  addStart(place);
  addSimulation(place);
  addLooks(place);
  addManifests(place);
  addChanges(place);
  addDeployment(place);
  return program;
}

/** Where commands are added. */
interface Place {
  readonly program: Command;
  readonly output: CommandOutput;
  readonly ends: (exitCode: number) => void;
}

/** Options of the commands on a cluster. */
function onCluster(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, else ~/.kube/config')
    .option('--context <name>', 'context of the kubeconfig');
}

/** Options of the commands on a deployment in an AWS account. */
function onDeployment(command: Command): Command {
  return command
    .option('--stack <name>', 'the functions stack', 'Curfew')
    .option('--region <name>', 'default: $AWS_REGION, else that of the AWS profile');
}

function addStart({ program, output, ends }: Place): void {
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
      const { startCommand } = await import('./start.ts');
      ends(await startCommand(options, { output }));
    });
}

function addSimulation({ program, output, ends }: Place): void {
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
      const { simulateCommand } = await import('./simulate.ts');
      ends(await simulateCommand(files, options, output));
    });

  program
    .command('explore')
    .description('run two messages at once in every order, and look for one that ends wrongly')
    .argument('[concerns...]', 'default: all')
    .option('--small', 'the size of npm test')
    .action(async (concerns: string[], options: { small?: boolean }) => {
      const { exploreCommand } = await import('./explore.ts');
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
      const { swarmCommand } = await import('./swarm.ts');
      ends(await swarmCommand(options, output));
    });
}

/** Commands that look at a cluster or at files, and change nothing. */
function addLooks({ program, output, ends }: Place): void {
  program.commandsGroup('Look, and change nothing:');
  onCluster(
    program
      .command('explain')
      .description(
        'say what becomes of a node or pod and why: repair, drain, termination, protection; which policies are in force where',
      )
      .argument('<kind>', 'pod, node, nodepool or policy; also KIND/NAME in one')
      .argument('[name]', 'NAMESPACE/NAME of a pod, NAME of anything else'),
  )
    .option('-n, --namespace <name>', 'of a pod that is named without one (default: "default")')
    .option('--scenario <file>', 'look at a scenario in place of a cluster; FILE#NAME when the file holds several')
    .option('--at <moment>', 'with --scenario: time since its start, or an RFC 3339 instant (default: its end)')
    .addOption(new Option('--output <form>', 'what to print').choices(['text', 'json']).default('text'))
    .action(async (kind: string, name: string | undefined, options: Record<string, string>) => {
      const { explainCommand } = await import('./explain.ts');
      ends(await explainCommand(kind, name, options, output));
    });

  program
    .command('validate')
    .description('say what Curfew would refuse: configurations, policies, FinalizerRules, drain templates, scenarios')
    .argument('<paths...>', 'files and folders')
    .option('--template <file>', 'the drain template, in place of the one that the configuration names')
    .option('--event <file>', 'a HealthEvent (JSON or YAML) to render the template for (default: a sample)')
    .addOption(new Option('--output <form>', 'what to print').choices(['text', 'json']).default('text'))
    .action(async (paths: string[], options: Record<string, string>) => {
      const { validateCommand } = await import('./validate.ts');
      ends(await validateCommand(paths, options, output));
    });

  onCluster(
    program
      .command('snapshot')
      .description('write a cluster as a scenario file; Secrets and environment values are never included'),
  )
    .option('--output <file>', 'default: standard output')
    .option('--duration <duration>', 'how long the simulation runs; a Go duration (default: 24h)')
    .action(async (options: Record<string, string>) => {
      const { snapshotCommand } = await import('./snapshot.ts');
      ends(await snapshotCommand(options, output));
    });
}

/** Commands that print what a user applies. */
function addManifests({ program, output, ends }: Place): void {
  program.commandsGroup('Print what you apply:');
  onCluster(
    program
      .command('policies')
      .description('print policies that are made of NodePools and NodeLifecyclePolicies, for kubectl apply -f -')
      .command('admission')
      .description(
        'the admission policy that puts termination finalizers on NodeClaims and Nodes from their first write',
      )
      .argument(
        '[files...]',
        'files and folders with NodePools and NodeLifecyclePolicies (default: those of the cluster)',
      ),
  ).action(async (files: string[], options: Record<string, string>) => {
    const { admissionCommand } = await import('./policies.ts');
    ends(await admissionCommand(files, options, output));
  });

  const rbac = program.command('rbac').description('print the permissions that a user grants, for kubectl apply -f -');
  for (const [use, whose, given] of [
    [
      'finalizerrules',
      'the kinds of FinalizerRules',
      'FinalizerRules and their CustomResourceDefinitions (default: the rules of the cluster)',
    ],
    [
      'hooks',
      'the custom resources of termination hooks',
      'NodeLifecyclePolicies, the ConfigMap curfew-config and CustomResourceDefinitions (default: those of the cluster)',
    ],
  ] as const) {
    rbac
      .command(use)
      .description(`those on ${whose}, for the forwarder and the finalizer function`)
      .argument('[files...]', `files and folders with ${given}`)
      .option(
        '--kubeconfig <file>',
        'the cluster that serves the kinds (default without files: $KUBECONFIG, else ~/.kube/config)',
      )
      .option('--context <name>', 'context of the kubeconfig')
      .action(async (files: string[], options: Record<string, string>) => {
        const { rbacCommand } = await import('./rbac.ts');
        ends(await rbacCommand(use, files, options, output));
      });
  }

  program
    .command('crd-patch')
    .description("print the patch by which Karpenter's definition keeps the fields that Curfew reads")
    .addArgument(new Argument('<definition>', 'which definition').choices(['nodepool']))
    .action(async () => {
      const { crdPatchCommand } = await import('./crd-patch.ts');
      ends(crdPatchCommand(output));
    });
}

/** Commands that change a cluster. */
function addChanges({ program, output, ends }: Place): void {
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
      const { drainCommand } = await import('./drain.ts');
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
    .action(async (options: Record<string, string>) => {
      const { uninstallCommand } = await import('./uninstall.ts');
      ends(await uninstallCommand(options, output));
    });

  onCluster(
    program
      .command('republish')
      .description('have the forwarder publish every object again, for functions that missed events'),
  ).action(async (options: Record<string, string>) => {
    const { republishCommand } = await import('./republish.ts');
    ends(await republishCommand(options, output));
  });
}

function addDeployment({ program, output, ends }: Place): void {
  program.commandsGroup('Operate a deployment:');
  onDeployment(program.command('stop'))
    .description('stop all functions of a deployment: their event sources and ticks; nothing is lost')
    .action(async (options: SwitchOptions) => {
      const { stopCommand } = await import('./stop-resume.ts');
      ends(await stopCommand(options, { output }));
    });

  onDeployment(program.command('resume'))
    .description('start them again')
    .action(async (options: SwitchOptions) => {
      const { resumeCommand } = await import('./stop-resume.ts');
      ends(await resumeCommand(options, { output }));
    });

  onDeployment(program.command('redrive'))
    .description("move a function's dead letters back into its inbox")
    .requiredOption('--function <name>', 'whose dead letters')
    .option('--reason <reason>', 'only those with this reason, as the command prints it')
    .option('--limit <number>', 'at most this many messages')
    .option('--dry-run', 'say what would be moved, move nothing')
    .action(async (options: RedriveCommandOptions) => {
      const { redriveCommand } = await import('./redrive.ts');
      ends(await redriveCommand(options, output));
    });

  onDeployment(program.command('orphans'))
    .description('list what may have been left behind: instances, and objects of FinalizerRules')
    .option('--forget <id>', 'close the entry of one that you have seen to, in place of the list')
    .action(async (options: OrphansOptions) => {
      const { orphansCommand } = await import('./orphans.ts');
      ends(await orphansCommand(options, output));
    });
}
