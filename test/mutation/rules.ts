/** Which files hold a rule, and which tests are that rule's own. */
import { globSync } from 'node:fs';

/** One of each concern's folder, or of a folder of the finalizer. */
const RULES = [
  'functions/**/decide.ts',
  'functions/**/rule/*.ts',
  'functions/repair/attempt-words.ts',
  'functions/repair/node/record-changes/*.ts',
  'functions/repair/reservations.ts',
  'functions/repair/policy-status/settings*.ts',
];

/** Paths from the root of the project. */
export const ruleFiles = (): readonly string[] => globSync(RULES).toSorted();

/** As `functions/drain`: what has its tests in the folder of the same path below `test`. */
export const concernOf = (file: string): string => file.split('/').slice(0, 2).join('/');

export const testsOf = (concern: string): readonly string[] => globSync(`test/${concern}/**/*.test.ts`).toSorted();
