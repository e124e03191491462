/** `curfew audit`, on a deployment, the local stack, or a file. */
import { Option } from 'commander';
import type { AuditOptions } from '../audit.ts';
import { onDeployment, onInterrupt, withExamples, type Place } from './place.ts';

export function addAudit({ program, output, ends }: Place): void {
  const audit = onDeployment(program.command('audit'))
    .description(
      'show what a deployment decided, or a file of its audit lines, and what other policies would have made of it',
    )
    .option(
      '--from-audit <file>',
      'a file in place of the deployment: audit lines as CloudWatch exports them, one JSON object a line, or a trace (default: none)',
    )
    .option('--since <duration>', 'how far back; a Go duration, as 24h (default: 24h; of a file, all)')
    .option('--node <name>', 'lines about one node alone, each decision of it too (default: all)')
    .option('--follow', 'print each decision as it comes, until Ctrl-C')
    .option('--policies <path...>', 'replay: manifests to try on that history (default: none)')
    .addOption(
      new Option('--output <form>', 'what to print; jsonl: the trace')
        .choices(['text', 'json', 'jsonl'])
        .default('text'),
    )
    .option('--html <file>', 'write it as a page (default: no page)')
    .action(async (options: AuditOptions) => {
      const { auditCommand } = await import('../audit.ts');
      const interrupted = options.follow === true ? onInterrupt() : new AbortController().signal;
      ends(await auditCommand(options, output, { interrupted }));
    });
  withExamples(audit, {
    'curfew audit --node ip-10-0-1-2.ec2.internal --since 2h':
      'what became of a node, and why, out of the logs of the deployment',
    'curfew audit --since 24h --html day.html': 'the last day on one page',
    'curfew audit --follow': 'each decision as it comes',
    'curfew audit --from-audit export.jsonl --policies new/':
      'what these policies would have done with what a file has',
  });
}
