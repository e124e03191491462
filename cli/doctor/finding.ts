/** Findings of `curfew doctor`, and checks. One check without an answer does not stop the others. */
import { describeAwsFailure, isAnswerOfOthers, isMissing } from '../operate/aws-failure.ts';

export interface Finding {
  /**
   * `skipped`: it could not be asked, so nothing is known. `warning`: it works, and somebody should know. `note`: there is nothing of the
   * kind where this was asked.
   */
  readonly state: 'ok' | 'failed' | 'warning' | 'skipped' | 'note';
  /** The object or part that was checked. */
  readonly subject: string;
  readonly says: string;
  /** The action that mends it; every failure has one. */
  readonly remedy?: string;
}

export const ok = (subject: string, says: string): Finding => ({ state: 'ok', subject, says });
export const failed = (subject: string, says: string, remedy: string): Finding => ({
  state: 'failed',
  subject,
  says,
  remedy,
});
export const warning = (subject: string, says: string, remedy: string): Finding => ({
  state: 'warning',
  subject,
  says,
  remedy,
});

export const note = (subject: string, says: string, remedy: string): Finding => ({
  state: 'note',
  subject,
  says,
  remedy,
});

export interface Check {
  readonly subject: string;
  /** Permission that asking needs, as its remedy names it. */
  readonly needs: string;
  /** The remedy if AWS says that the object does not exist. A deployment makes again whatever belongs to the stacks. */
  readonly whenMissing?: string;
  readonly look: () => Promise<readonly Finding[]>;
}

/** Runs the checks, each by itself; what cannot be asked is a finding too. */
export async function runChecks(checks: readonly Check[]): Promise<readonly Finding[]> {
  const answers = await Promise.all(
    checks.map(check => check.look().catch((error: unknown): readonly Finding[] => [withoutAnswer(check, error)])),
  );
  return answers.flat();
}

const REDEPLOY = 'npx cdk deploy --all --revert-drift';

/**
 * The finding of a check that failed. An object that does not exist is an answer, and no permission would change that.
 */
function withoutAnswer({ subject, needs, whenMissing = REDEPLOY }: Check, error: unknown): Finding {
  const why = describeAwsFailure(error);
  if (isMissing(error)) return failed(subject, `cannot be found: ${why}`, whenMissing);
  const remedy = isAnswerOfOthers(error)
    ? 'run it from where AWS is reached'
    : `grant ${needs}, or run it from where AWS is reached`;
  return { state: 'skipped', subject, says: `cannot be asked: ${why}`, remedy };
}

const LABELS = {
  ok: 'ok      ',
  warning: 'WARNING ',
  failed: 'FAILED  ',
  skipped: 'skipped ',
  note: 'note    ',
} as const;

/** One line, with what to do below it. */
export function findingText({ state, subject, says, remedy }: Finding): string {
  return `${LABELS[state]}${subject}: ${says}\n${remedy === undefined ? '' : `          → ${remedy}\n`}`;
}
