/** What the command line reads of protections, and nothing else of this folder: the rules themselves, and how their records are read. */
export { quotedValue } from './rule/announcements.ts';
