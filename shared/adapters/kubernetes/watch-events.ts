/** One line of a watch stream to the event it means. */
import { RetryableError } from '../../errors.ts';
import { WatchExpired, type WatchEvent } from '../../ports/cluster-watch.ts';
import { toApiFailure, type ApiFailure } from './api-failure.ts';
import { toThrown } from './errors.ts';
import { parseJson, parseObject } from './objects.ts';
import { isJsonObject } from '../../domain/json.ts';

/**
 * Throws `WatchExpired` for an ERROR event that says so, `RetryableError` for any other ERROR and for what cannot be read: the
 * stream is not to be trusted any further.
 */
export function parseWatchEvent(line: string, doing: string): WatchEvent {
  const event = parseJson(line, doing);
  const type: unknown = isJsonObject(event) ? event['type'] : undefined;
  const object = isJsonObject(event) ? event['object'] : undefined;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: parseObject(object, doing) };
    case 'BOOKMARK': {
      const metadata = isJsonObject(object) ? object['metadata'] : undefined;
      const resourceVersion = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined;
      if (typeof resourceVersion === 'string') return { type, resourceVersion };
      break;
    }
    case 'ERROR': {
      const code = isJsonObject(object) && typeof object['code'] === 'number' ? object['code'] : 500;
      throw toWatchError(toApiFailure(code, object), doing);
    }
  }
  throw new RetryableError(`${doing}: not a watch event: ${line.slice(0, 200)}`, { reason: 'UnreadableAnswer' });
}

/** The error for a watch that was refused, or for an ERROR in its stream. */
export function toWatchError(failure: ApiFailure, doing: string): Error {
  // 410: the resourceVersion is too old. 404: no longer served; only a list can tell, and says `notServed`.
  if (failure.status === 410 || failure.status === 404) return new WatchExpired(`${doing}: ${failure.message}`);
  return toThrown(failure, { doing, write: false });
}
