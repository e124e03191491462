/** Whether Curfew has said that it cannot read the configuration that stands there now: the last good one stays in force. */
import type { Check } from './invariant.ts';
import type { Mirror } from './mirror.ts';

export interface RefusedConfiguration extends Required<Pick<Check, 'onAudit'>> {
  isRefused(): boolean;
}

/** A newer ConfigMap counts as read until an audit line refuses it. */
export function followConfiguration(mirror: Pick<Mirror, 'follow'>): RefusedConfiguration {
  let isRefused = false;
  mirror.follow(resource => {
    if (resource === 'configmaps') isRefused = false;
  });
  return {
    onAudit({ kind, reason }) {
      if (kind === 'ConfigMap' && reason === 'InvalidConfiguration') isRefused = true;
    },
    isRefused: () => isRefused,
  };
}
