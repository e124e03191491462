/** The detail of an event that a person sends, checked by what of Curfew's will read it. Pure. */
import { parseDrainRequested } from '../../functions/drain/explain.ts';
import { parseHealthEvent } from '../../shared/contract/health-event.ts';
import { hookAnswerSchema } from '../../shared/contract/hook-answer.ts';
import { DRAIN_REQUESTED, HEALTH_EVENT, HOOK_ANSWERED, SOURCES } from '../../shared/contract/names.ts';
import { parsed } from '../../shared/contract/policy-schema.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import { UsageError } from '../usage-error.ts';

/** `detail-type` of what a person may send. */
export type EventType = typeof HEALTH_EVENT | typeof DRAIN_REQUESTED | typeof HOOK_ANSWERED;

/** Options of the command, each of which goes with some types. */
export interface EventFields {
  readonly node?: string;
  readonly id?: string;
  readonly message?: string;
  readonly check?: string;
  readonly healthy?: boolean;
  readonly force?: boolean;
  readonly key?: string;
  readonly result?: string;
}

type Detail = Readonly<Record<string, unknown>>;

/** Options that each type takes; the first must be given where no file has the detail. */
const TAKES: Readonly<Record<EventType, readonly (keyof EventFields)[]>> = {
  [HEALTH_EVENT]: ['node', 'id', 'message', 'check', 'healthy', 'force'],
  [DRAIN_REQUESTED]: ['node', 'id', 'message', 'force'],
  [HOOK_ANSWERED]: ['key', 'result', 'message'],
};

/** A worker's answer is read from nobody else. */
export const sourceOf = (type: EventType): string => (type === HOOK_ANSWERED ? SOURCES.worker : SOURCES.operator);

/**
 * The detail that the options describe. Throws `UsageError` for one that does not belong to the type, or is missing.
 * @param newId for what is not to be taken for an event of before
 */
export function detailOf(type: EventType, fields: EventFields, newId: string): Detail {
  const odd = Object.keys(fields).find(name => !TAKES[type].some(taken => taken === name));
  if (odd !== undefined) throw new UsageError(`--${odd} does not go with ${type}: it takes ${listed(type)}`);
  const [first = 'node'] = TAKES[type];
  if (fields[first] === undefined) throw new UsageError(`${type} needs --${first}, or the whole detail by --file`);
  const { node = '', id = newId, message, check, healthy, force, key = '', result = 'succeed' } = fields;
  switch (type) {
    case HEALTH_EVENT:
      return {
        id,
        nodeName: node,
        isHealthy: healthy === true,
        isFatal: healthy !== true,
        checkName: check ?? 'curfew-event-send',
        ...(message !== undefined && { message }),
        ...(force === true && { drainOverrides: { force: true } }),
      };
    case DRAIN_REQUESTED:
      return {
        id,
        node: { name: node },
        ...(message !== undefined && { reason: message }),
        ...(force === true && { force }),
      };
    case HOOK_ANSWERED:
      return { key, result, ...(message !== undefined && { message }) };
  }
}

const listed = (type: EventType): string => TAKES[type].map(name => `--${name}`).join(', ');

/** Throws `UsageError` for what would only come to lie among the dead letters. */
export function checkDetail(type: EventType, detail: unknown, where: string): Detail {
  if (!isJsonObject(detail)) throw new UsageError(`${where} is no object with the detail of a ${type}`);
  const read =
    type === HEALTH_EVENT
      ? parseHealthEvent(detail, { id: 'an-event' })
      : type === DRAIN_REQUESTED
        ? parseDrainRequested(detail, 'an-event')
        : checkAnswer(detail);
  if (read.ok) return detail;
  throw new UsageError(`${where} is no ${type}: ${read.message}`);
}

function checkAnswer(detail: Detail): { readonly ok: true } | { readonly ok: false; readonly message: string } {
  if (typeof detail['key'] !== 'string' || !/^[^/]+\/.+$/.test(detail['key']))
    return { ok: false, message: 'detail.key must be UID/NAME, as the event of the hook has it' };
  return parsed(hookAnswerSchema.safeParse(detail), 'detail');
}
