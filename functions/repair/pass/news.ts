/**
 * What of a pass's verdicts is news. A pool of a thousand blocked nodes is looked at after each change, and nobody wants a thousand
 * audit lines and Events each time: a verdict is said when it is another one than before. Its Event is recorded again from time to time,
 * for the API server forgets Events after an hour. Pure.
 */
import { addDuration, earliest, isDue, minutes, type EpochMs } from '../../../shared/domain/time.ts';
import { PASS_SETTLES_AFTER, PASS_SPACING } from './deps.ts';
import type { Said } from './pool.ts';
import type { Verdict } from './verdict.ts';

export const REPEAT_AFTER = minutes(5);
/** So many are said by one pass, so that it ends in time; the others by the passes that follow, one a second. */
export const MAX_SAID = 200;

export interface News {
  readonly verdicts: readonly Verdict[];
  /** Said before and still so: of these the Event alone is recorded again. */
  readonly repeated: readonly Verdict[];
  readonly said: Said;
  /** Some were left for the next pass. */
  readonly hasMore: boolean;
}

/** What of these is said now. Acts (`repair`, `wouldRepair`, `recovered`) are always said, by the run that carries them out. */
export function newsOf(verdicts: readonly Verdict[], before: Said, now: EpochMs): News {
  const nodes: Record<string, string> = {};
  const news: Verdict[] = [];
  const known: Verdict[] = [];
  let hasMore = false;
  for (const verdict of verdicts) {
    const code = codeOf(verdict);
    if (code === undefined) continue;
    const key = shortHash(verdict.node.uid);
    if (before.nodes[key] === code) {
      nodes[key] = code;
      known.push(verdict);
    } else if (news.length >= MAX_SAID) hasMore = true;
    else {
      nodes[key] = code;
      news.push(verdict);
    }
  }
  const isRound = isDue(now, before.againTime);
  const againTime = isRound ? addDuration(now, REPEAT_AFTER) : before.againTime;
  return { verdicts: news, repeated: isRound ? turnOf(known, now) : [], said: { againTime, nodes }, hasMore };
}

/** Some of them, so that all have their turn. */
function turnOf(verdicts: readonly Verdict[], now: EpochMs): readonly Verdict[] {
  const turns = Math.ceil(verdicts.length / MAX_SAID);
  const turn = turns === 0 ? 0 : Math.floor(now / REPEAT_AFTER) % turns;
  return verdicts.slice(turn * MAX_SAID, (turn + 1) * MAX_SAID);
}

export function codeOf(verdict: Verdict): string | undefined {
  switch (verdict.kind) {
    case 'blocked':
      return BLOCKED_CODES[verdict.reason];
    case 'vetoed':
      return 'V';
    case 'unclaimed':
      return 'N';
    case 'finishing':
      return 'f';
    case 'exhausted':
      return 'x';
    case 'settle':
      return 's';
    case 'retry':
      return 'r';
    case 'repair':
    case 'wouldRepair':
    case 'recovered':
      return undefined;
  }
}

const BLOCKED_CODES: Readonly<Record<Extract<Verdict, { kind: 'blocked' }>['reason'], string>> = {
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

/** Codes of verdicts that hold a due repair back. */
const HELD: readonly string[] = [...Object.values(BLOCKED_CODES), 'V', 'N', 'x', 'r'];

/** Due nodes that are held back, by what the passes said last. */
export function countHeld({ nodes }: Said): number {
  return Object.values(nodes).filter(code => HELD.includes(code)).length;
}

/** Whether the passes said something of the node that is still so. */
export const wasSaid = ({ nodes }: Said, uid: string): boolean => nodes[shortHash(uid)] !== undefined;

/** 32 bits of FNV-1a: two nodes of ten thousand that share one cost at most an Event that comes five minutes late. */
function shortHash(text: string): string {
  let hash = 0x81_1c_9d_c5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
  }
  return (hash >>> 0).toString(36);
}

/** When the next pass is needed, for the pool's sake or to say something. */
export function wakeTimeOf(wakeTime: EpochMs | undefined, { said, hasMore }: News, now: EpochMs): EpochMs {
  const again = Object.keys(said.nodes).length > 0 ? said.againTime : undefined;
  const more = hasMore ? addDuration(now, PASS_SPACING) : undefined;
  return [wakeTime, again, more].reduce(earliest, undefined) ?? addDuration(now, PASS_SETTLES_AFTER);
}
