/** `curfew event send TYPE`: puts an event on the bus of a deployment or of the local stack, as a monitor or a worker would. */
import { randomBytes } from 'node:crypto';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { createEventBus } from '../shared/adapters/eventbridge/event-bus.ts';
import { systemClock } from '../shared/adapters/system-clock.ts';
import { HOOK_ANSWERED } from '../shared/contract/names.ts';
import type { CommandOutput } from './command-output.ts';
import { checkDetail, detailOf, sourceOf, type EventFields, type EventType } from './event/detail.ts';
import { reportingFailure } from './failure.ts';
import { refusal } from './findings/refuse.ts';
import { orUsageError, readBusName, readClusterName } from './operate/deployment.ts';
import { UsageError } from './usage-error.ts';
import { readText } from './validate/files.ts';
import { readYaml } from './validate/yaml-source.ts';

export interface EventSendOptions extends EventFields {
  /** Name of the functions stack. */
  readonly stack: string;
  readonly region?: string;
  /** JSON or YAML with the whole detail, in place of the options that describe it. */
  readonly file?: string;
  /** Default: `curfew.operator`, of an answer `curfew.worker`. */
  readonly source?: string;
  /** Say what would be sent. */
  readonly dryRun?: boolean;
}

/** Exit code 0: the bus has it. 2: the options, the file, the account or the bus do not allow it. */
export function eventSendCommand(type: EventType, options: EventSendOptions, output: CommandOutput): Promise<number> {
  return reportingFailure(output, async () => {
    const { stack, region, file, source = sourceOf(type), dryRun, ...fields } = options;
    if (file !== undefined && Object.keys(fields).length > 0)
      throw new UsageError(`give either --file or --${Object.keys(fields)[0]}: the file has the whole detail`);
    const detail = file === undefined ? described(type, fields) : checkDetail(type, await read(file), file);
    if (dryRun === true) {
      output.out(`${JSON.stringify({ source, 'detail-type': type, detail }, undefined, 2)}\n`);
      return 0;
    }
    const where = region === undefined ? {} : { region };
    const isAnswer = type === HOOK_ANSWERED && detail['cluster'] === undefined;
    const named = isAnswer ? { cluster: await readClusterName(stack, where), ...detail } : detail;
    const busName = await readBusName(stack, where);
    const bus = createEventBus({ client: new EventBridgeClient(where), busName });
    const [outcome] = await orUsageError(`sending to the bus ${busName}`, () =>
      bus.publish([{ source, detailType: type, detail: named }]),
    );
    if (outcome?.kind !== 'published') {
      const why = outcome?.kind === 'rejected' ? `${outcome.code}: ${outcome.message}` : (outcome?.code ?? 'no answer');
      throw new UsageError(`the bus ${busName} did not take it: ${why}`);
    }
    output.out(`sent ${type} ${String(detail['id'] ?? detail['key'])} to the bus ${busName}\n`);
    return 0;
  });
}

function described(type: EventType, fields: EventFields): Readonly<Record<string, unknown>> {
  const id = `manual-${Math.floor(systemClock.now() / 1000)}-${randomBytes(3).toString('hex')}`;
  return checkDetail(type, detailOf(type, fields, id), 'what the options say');
}

async function read(file: string): Promise<unknown> {
  const text = await readText(file);
  const { documents, findings } = readYaml(text, file);
  if (findings.length > 0) throw refusal(findings, new Map([[file, text]]));
  return documents[0]?.value;
}
