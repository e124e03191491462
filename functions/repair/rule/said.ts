/**
 * What was said of a node last, in short. Its record keeps these codes, those of earlier versions among them: each stays as it is, and
 * nothing but this file knows how one is spelt. Pure.
 */
import type { NodeRecord } from './record.ts';
import type { BlockedReason, Verdict } from './verdict.ts';

const NO_TRANSITION_TIME = 'ignore';
const UNCLAIMED: Verdict['kind'] = 'unclaimed';
const blockedBy = (reason: BlockedReason): string => `blocked ${reason}`;

/** undefined: it is said each time that it is so. */
export function codeOf(verdict: Verdict): string | undefined {
  switch (verdict.kind) {
    case 'tolerate':
      return `tolerate ${verdict.incident.conditionType}=${verdict.incident.conditionStatus} ${verdict.incident.dueTime}`;
    case 'blocked':
      return blockedBy(verdict.reason);
    case 'ignore':
      if (verdict.reason === 'Healthy') return undefined;
      return verdict.reason === 'NoTransitionTime' ? NO_TRANSITION_TIME : `ignore ${verdict.reason}`;
    case 'wouldRepair':
      return `wouldRepair ${verdict.attempt.key}`;
    case 'exhausted':
      return `exhausted ${verdict.message}`;
    case 'underWay':
    case 'finishing':
    case 'retry':
    case 'settle':
    case 'stuck':
    case 'unclaimed':
    case 'vetoed':
    case 'refuse':
      return verdict.kind;
    case 'repair':
    case 'recovered':
    case 'gone':
      return undefined;
  }
}

type Remembered = Pick<NodeRecord, 'said'> | undefined;

/** Its condition was ill without a time of its own. */
export const wasWithoutTime = (record: Remembered): boolean => record?.said?.code === NO_TRANSITION_TIME;

/** No NodeClaim, or more than one, stood for it. */
export const wasWithoutOwner = (record: Remembered): boolean =>
  record?.said?.code === UNCLAIMED || record?.said?.code === blockedBy('AmbiguousNodeClaim');
