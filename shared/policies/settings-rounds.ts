/** Rounds after changes of settings, as every concern has them; their targets are NodePools. */
import { isRepublished, type ClusterEvent } from '../contract/cluster-event.ts';
import type { FunctionName } from '../contract/names.ts';
import type { Subject } from '../contract/subject.ts';
import { seconds } from '../domain/time.ts';
import type { RoundTargets } from '../lifecycle/next-round.ts';
import type { WakeUpRoute } from '../lifecycle/wake-up-route.ts';
import { createRounds } from './rounds.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';

export interface SettingsRounds extends WakeUpRoute {
  /**
   * A NodePool, or an object with settings for many of them, has changed. One that is only published again changes nothing: what it
   * applies to is published again, too.
   */
  settingsChanged(event: Pick<ClusterEvent, 'subject' | 'change' | 'changed' | 'resync'>): Promise<void>;
}

/** @param findAffected what a change of these NodePools affects */
export function createSettingsRounds(
  deps: Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>,
  owner: FunctionName,
  findAffected: (targets: RoundTargets) => Promise<readonly Subject[]>,
): SettingsRounds {
  const rounds = createRounds(deps, { owner, name: 'settings', spacing: seconds(10), findAffected });
  return {
    ...rounds,
    async settingsChanged(event) {
      if (isRepublished(event)) return;
      await rounds.request(event.subject.kind === 'NodePool' ? event.subject.name : undefined);
    },
  };
}
