/** `curfew redrive`: dead letters of a function back into its inbox. */
import { SQSClient } from '@aws-sdk/client-sqs';
import { QUEUE_URL_IS_A_NAME } from '../shared/adapters/sqs/connect.ts';
import { onOneLine } from '../shared/domain/printable.ts';
import type { CommandOutput } from './command-output.ts';
import { reportingFailure } from './failure.ts';
import { readDeployment } from './operate/deployment.ts';
import { redrive, type ParkedMessage } from './operate/redrive.ts';
import { UsageError } from './usage-error.ts';

export interface RedriveCommandOptions {
  /** Name of the functions stack. */
  readonly stack: string;
  readonly region?: string;
  readonly function: string;
  readonly reason?: string;
  /** A whole number above zero. */
  readonly limit?: string;
  readonly dryRun?: boolean;
}

/** Exit code 0: moved, or nothing was there. 2: the options, the account or the queues cannot be used; what was moved is said. */
export function redriveCommand(options: RedriveCommandOptions, output: CommandOutput): Promise<number> {
  const { stack, function: name, reason, limit, dryRun = false, ...client } = options;
  return reportingFailure(output, async () => {
    if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit)) {
      throw new UsageError(`--limit ${limit} is not a whole number above zero`);
    }
    const functions = await readDeployment(stack, client);
    const fn = functions.find(candidate => candidate.name === name);
    if (fn === undefined) {
      const known = functions.map(candidate => candidate.name).join(', ');
      throw new UsageError(`the stack ${stack} has no function ${name}; it has ${known}`);
    }
    const { moved, left } = await redrive({
      client: new SQSClient({ ...client, ...QUEUE_URL_IS_A_NAME }),
      from: fn.deadLettersUrl,
      to: fn.inboxUrl,
      dryRun,
      ...(reason !== undefined && { reason }),
      ...(limit !== undefined && { limit: Number(limit) }),
      onMessage: message => output.out(`${dryRun ? 'would move' : 'moved'} ${describe(message)}\n`),
    });
    output.out(`${dryRun ? 'would move' : 'moved'} ${moved}, left ${left}\n`);
    return 0;
  });
}

function describe({ id, reason, body }: ParkedMessage): string {
  return onOneLine(`${id} ${reason} ${subjectOf(body)}`.trimEnd());
}

/** `NodeChanged Node n1`; nothing of a body that is no event. */
function subjectOf(body: string): string {
  try {
    const event: unknown = JSON.parse(body);
    const at = (value: unknown, key: string): unknown =>
      typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
    const subject = at(at(event, 'detail'), 'subject');
    const words = [at(event, 'detail-type'), at(subject, 'kind'), at(subject, 'namespace'), at(subject, 'name')];
    return words.filter(word => typeof word === 'string').join(' ');
  } catch {
    return '';
  }
}
