/** Which node a message is about, before anything is read. */
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';

/** A name for what the run of a message looks at: a node is looked at once, however many of its pods a batch is about. */
export function nodeOf(message: InboxMessage): string {
  switch (message.kind) {
    case 'wakeUp':
      return `${message.subject.kind}/${message.subject.name}`;
    case 'clusterEvent': {
      const { subject, hints } = message.event;
      return subject.kind === 'Pod' ? `Node/${hints.nodeName ?? ''}` : `${subject.kind}/${subject.name}`;
    }
    case 'customResource':
    case 'tick':
    case 'busEvent':
      return message.kind;
  }
}
