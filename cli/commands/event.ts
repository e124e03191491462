/** `curfew event send`. */
import { Argument, Option } from 'commander';
import { DRAIN_REQUESTED, HEALTH_EVENT, HOOK_ANSWERED } from '../../shared/contract/names.ts';
import type { EventType } from '../event/detail.ts';
import type { EventSendOptions } from '../event.ts';
import { onDeployment, withExamples, type Place } from './place.ts';

const TYPES: readonly EventType[] = [HEALTH_EVENT, DRAIN_REQUESTED, HOOK_ANSWERED];

export function addEvent({ program, output, ends }: Place): void {
  const send = onDeployment(
    program
      .command('event')
      .description('put events on the bus of a deployment, or of the local stack')
      .command('send')
      .description("send one event: a monitor's report on a node, a request for its drain, or the answer of a hook")
      .addArgument(new Argument('<type>', 'its detail-type').choices(TYPES)),
  )
    .option('--node <name>', 'the Node that it is about (HealthEvent, DrainRequested; default: of --file)')
    .option('--id <id>', 'its id; the same id is the same event (default: a new one)')
    .option('--message <text>', 'why, for people and templates (default: none)')
    .option('--check <name>', 'HealthEvent: the check that found it (default: curfew-event-send)')
    .option('--healthy', 'HealthEvent: the fault is over')
    .option('--force', 'HealthEvent, DrainRequested: drain in mode Immediate')
    .option('--key <key>', 'TerminationHookAnswered: the key that the event of the hook had (default: of --file)')
    .addOption(
      new Option('--result <result>', 'TerminationHookAnswered: how it went (default: succeed)').choices([
        'succeed',
        'notFound',
        'fail',
        'pending',
      ]),
    )
    .option('--file <file>', 'JSON or YAML with the whole detail, in place of these (default: none)')
    .option('--source <source>', 'who sends it (default: curfew.operator; of an answer curfew.worker)')
    .option('--dry-run', 'print what would be sent, send nothing')
    .action(async (type: EventType, options: EventSendOptions) => {
      const { eventSendCommand } = await import('../event.ts');
      ends(await eventSendCommand(type, options, output));
    });
  withExamples(send, {
    'curfew event send HealthEvent --node node-3 --check GpuXid --message Xid79': 'as a monitor that found a fault',
    'curfew event send HealthEvent --node node-3 --check GpuXid --healthy': 'the fault is over',
    'curfew event send DrainRequested --node node-3': 'drain the node',
    'curfew event send TerminationHookAnswered --key UID/deregister --result succeed':
      'as the worker of a hook, with the key that it was given',
  });
}
