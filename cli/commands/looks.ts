/** Commands that look at a cluster or at files, and change nothing. */
import { Option } from 'commander';
import { onCluster, withExamples, type Place } from './place.ts';

export function addLooks({ program, output, ends }: Place): void {
  program.commandsGroup('Look, and change nothing:');
  const explain = onCluster(
    program
      .command('explain')
      .description(
        'say what becomes of a node or pod and why: repair, drain, termination, protection; which policies are in force where',
      )
      .argument('<kind>', 'pod, node, nodepool or policy; also KIND/NAME in one')
      .argument(
        '[name]',
        'NAMESPACE/NAME of a pod, NAME of anything else; of a nodepool or policy (default: a list of all)',
      ),
  )
    .option('-n, --namespace <name>', 'of a pod that is named without one (default: "default")')
    .option('--scenario <file>', 'look at a scenario in place of a cluster; FILE#NAME when the file holds several')
    .option('--at <moment>', 'with --scenario: time since its start, or an RFC 3339 instant (default: its end)')
    .option(
      '--stack <name>',
      'the functions stack, whose records say which hooks are at work and what is refused (default: none is read)',
    )
    .option('--region <name>', 'with --stack: default: $AWS_REGION, else that of the AWS profile')
    .addOption(new Option('--output <form>', 'what to print').choices(['text', 'json']).default('text'))
    .action(async (kind: string, name: string | undefined, options: Record<string, string>) => {
      const { explainCommand } = await import('../explain.ts');
      ends(await explainCommand(kind, name, options, output));
    });
  withExamples(explain, {
    'curfew explain node ip-10-0-1-2.ec2.internal': 'why a node is held, drained, repaired or not',
    'curfew explain policy': 'each policy: its mode, what it selects, how many nodes that is',
    'curfew explain pod web-0 -n prod': 'whether a pod is protected, until when and by what',
    'curfew explain node n1 --stack Curfew': 'and which changes are refused, by whom, and when each is tried again',
    'curfew explain node n1 --scenario my.yaml --at 12m': 'the same in a simulation, twelve minutes after its start',
  });

  const validate = program
    .command('validate')
    .description('say what Curfew would refuse: configurations, policies, FinalizerRules, drain templates, scenarios')
    .argument('<paths...>', 'files and folders; - is standard input')
    .option('--template <file>', 'the drain template, in place of the one that the configuration names')
    .option('--strict', 'warnings fail, too')
    .option('--event <file>', 'a HealthEvent (JSON or YAML) to render the template for (default: a sample)')
    .addOption(new Option('--output <form>', 'what to print').choices(['text', 'json']).default('text'))
    .action(async (paths: string[], options: Record<string, string>) => {
      const { validateCommand } = await import('../validate.ts');
      ends(await validateCommand(paths, options, output));
    });
  withExamples(validate, {
    'curfew validate deploy/config policies/': 'each fault with its file and line',
    'curfew validate config.toml --template drain.yaml --event event.json': 'with the drain resource as it would be',
  });

  const snapshot = onCluster(
    program
      .command('snapshot')
      .description('write a cluster as a scenario file; Secrets and environment values are never included'),
  )
    .option('--output <file>', 'where to write it (default: standard output)')
    .option('--duration <duration>', 'how long the simulation runs; a Go duration (default: 24h)')
    .action(async (options: Record<string, string>) => {
      const { snapshotCommand } = await import('../snapshot.ts');
      ends(await snapshotCommand(options, output));
    });
  withExamples(snapshot, {
    'curfew snapshot --output snapshot.yaml': 'then edit a policy in it, and `curfew simulate snapshot.yaml`',
  });
}
