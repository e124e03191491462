/** `kill -9` of one part after the other. */
import { childrenOf, type Role } from './processes.ts';

/** How often each was killed. */
export type Kills = Record<Role, number>;

const FUNCTION_EVERY = 20;
const DYNAMODB_EVERY = 300;
/** Only at the start: in the rest of the run its memory shows what it keeps. */
const FORWARDER_KILLS = 4;
const FORWARDER_WITHIN = 0.2;

export interface Instant {
  readonly second: number;
  /** Share of the run. */
  readonly elapsed: number;
}

/** Kills what is due. Call it at most once a second. */
export function killOne(parent: number, { second, elapsed }: Instant, kills: Kills): void {
  const role = dueRole({ second, elapsed }, kills);
  if (role === undefined) return;
  const victims = childrenOf(parent).filter(child => child.role === role);
  const victim = victims[kills[role] % Math.max(1, victims.length)];
  if (victim === undefined) return;
  try {
    process.kill(victim.pid, 'SIGKILL');
    kills[role] += 1;
  } catch {
    // It ended by itself.
  }
}

function dueRole({ second, elapsed }: Instant, kills: Kills): Role | undefined {
  if (kills.forwarder < FORWARDER_KILLS && elapsed >= ((kills.forwarder + 1) / FORWARDER_KILLS) * FORWARDER_WITHIN)
    return 'forwarder';
  if (second >= (kills.DynamoDB + 1) * DYNAMODB_EVERY) return 'DynamoDB';
  if (second >= (kills.function + 1) * FUNCTION_EVERY) return 'function';
  return undefined;
}
