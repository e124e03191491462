/** Rounds after changes of settings, as every concern has them; their scopes are NodePools. */
import type { FunctionName } from '../contract/names.ts';
import type { Subject } from '../contract/subject.ts';
import { seconds } from '../domain/time.ts';
import type { Scopes } from '../lifecycle/next-round.ts';
import { createRounds, type Rounds } from './rounds.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';

/** The name of these rounds, which is that of their records. */
export const SETTINGS_ROUND = 'settings';

/** @param concerned what a change of these NodePools affects */
export function settingsRounds(
  deps: Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>,
  owner: FunctionName,
  concerned: (scopes: Scopes) => Promise<readonly Subject[]>,
): Rounds {
  return createRounds(deps, { owner, name: SETTINGS_ROUND, spacing: seconds(10), concerned });
}
