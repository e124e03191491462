/** Inbox messages, each body parsed once: one event goes to several functions, and a message that failed comes again. */
import { parseInboxMessage, type InboxMessage } from '../shared/contract/inbox-message.ts';

/** More bodies than these are forgotten together. */
const REMEMBERED = 2_000;

const known = new Map<string, InboxMessage>();

/** As `parseInboxMessage`; the same body is the same message, which nobody changes. */
export function parseKnownMessage(body: string): InboxMessage {
  const before = known.get(body);
  if (before !== undefined) return before;
  const message = parseInboxMessage(body);
  if (known.size >= REMEMBERED) known.clear();
  known.set(body, message);
  return message;
}
