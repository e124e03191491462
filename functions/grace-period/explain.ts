/** Exports for the command line, which reads nothing else of this folder: the rules themselves, and how their records are read. */
export { quotedValue } from './rule/announcements.ts';
export { OWNER as GRACE_PERIOD_OWNER } from './record.ts';
