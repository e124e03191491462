/** How the record of a pool remembers what was said of a node: one letter for each kind of verdict. A letter never changes its meaning. */
import type { Verdict } from './verdict.ts';

export const BLOCKED_CODES: Readonly<Record<Extract<Verdict, { kind: 'blocked' }>['reason'], string>> = {
  ClusterFreeze: 'C',
  ZoneOutage: 'Z',
  UnhealthyThreshold: 'T',
  FutileRepairs: 'F',
  ConcurrencyBudget: 'B',
  ZoneConcurrencyBudget: 'z',
  ClusterConcurrencyBudget: 'c',
  RampUp: 'R',
  AmbiguousNodeClaim: 'A',
};

export const CODES: Readonly<Record<Exclude<Verdict['kind'], 'blocked'>, string | undefined>> = {
  vetoed: 'V',
  unclaimed: 'N',
  finishing: 'f',
  exhausted: 'x',
  settle: 's',
  retry: 'r',
  // Said by the run that carries them out.
  repair: undefined,
  wouldRepair: undefined,
  recovered: undefined,
};

/** Codes of verdicts that hold a due repair back. */
export const HELD_CODES: readonly string[] = [...Object.values(BLOCKED_CODES), 'V', 'N', 'x', 'r'];
