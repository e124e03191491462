/** Words that make a reader stop, and what to write instead. */

export interface Advice {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** Word order and connectives of another language, and words that say nothing to a user. */
export const PLAIN_WORDS: readonly Advice[] = [
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\b(is|are|does|do|has|have) no more\b|\bno more[,.]/i, instead: 'no longer' },
  { pattern: /\bas ever\b/i, instead: 'as always' },
  { pattern: /\bsuch as run\b/i, instead: 'that run' },
  { pattern: /\bit has (when|if)\b/i, instead: 'the same happens when' },
  { pattern: /\bwhat is none of\b/i, instead: 'other' },
  { pattern: /\bit is said\b/i, instead: 'an Event says' },
  { pattern: /\b(see to it|sees to it)\b/i, instead: 'makes sure' },
  { pattern: /\b(heirs?|rungs?|tidings)\b/i, instead: 'a word of Kubernetes or AWS' },
  { pattern: /\b(utili[sz]e|leverage|in order to|functionality)\b/i, instead: 'use, to, feature' },
];

/** A sentence names its subject first. A question may begin as it likes. */
export const BEGINS_BADLY: readonly Advice[] = [
  { pattern: /^Of (?!course)/, instead: 'the subject: "If several …, the … one"' },
  { pattern: /^(What|Who|Whoever|Whatever) /, instead: 'the subject: "An object that …", "A person who …"' },
  { pattern: /^Where /, instead: '"If …" or "When …"' },
  { pattern: /^(So|Nor|Neither) (is|are|does|do|has|have|may|can|it) /, instead: 'the subject, then "too"' },
];

/** Words of ours, or with a meaning of ours: a page for users uses one only if docs/glossary.md has it. */
export const OWN_WORDS: readonly string[] = [
  'brake',
  'calm',
  'cap',
  'clean-up',
  'dead letter',
  'flapping',
  'forwarder',
  'freeze',
  'futility',
  'guard',
  'heartbeat',
  'hold',
  'hook',
  'inbox',
  'ladder',
  'lane',
  'ledger',
  'mark',
  'pass',
  'place in the queue',
  'possible orphan',
  'protection',
  'ramp',
  'record',
  'republish',
  'scenario',
  'snapshot',
  'sweep',
  'swarm',
  'tick',
  'timer',
  'toleration',
  'trace',
  'veto',
  'wake-up',
  'zone outage',
];
