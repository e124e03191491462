/** What `curfew explain` claims of the repair of nodes at an instant, held against what happens after it when nobody interferes. */
import { textAt } from '../../../packages/kube-apiserver/src/json.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { toIsoText, type EpochMs } from '../../../shared/domain/time.ts';
import { dig, instanceOfClaim, instanceOfNode, textOf } from '../../../simulator/invariants/reading.ts';
import { HORIZON, isAbout, observeInstant, ownerOf, timeOf } from './instant.ts';

/** What is said of the repair of one node. */
export interface Claim {
  readonly node: string;
  readonly kind: string;
  readonly message: string;
  readonly due: number | undefined;
}

/** A claim, and what repair did about its node in the hour after it. */
export interface Observed {
  readonly seed: number;
  readonly now: EpochMs;
  readonly claim: Claim;
  readonly after: readonly JsonObject[];
}

/** What is due is done within two minutes, or is said to be held. */
const LATE = 120_000;
/** A round of the pool begins a second before. */
const EARLY = 2_000;

/** All nodes at one instant of that seed, soon after something was said of a node; none where nothing is. */
export async function observeClaims(seed: number): Promise<readonly Observed[]> {
  const instant = await observeInstant(seed, ({ action }) => JSON.stringify(action).includes('"conditions"'));
  if (instant === undefined) return [];
  const { now, nodeClaims } = instant;
  const lines = instant.after.filter(line => ownerOf(line) === 'repair');
  return instant.nodes.map(({ node, explanation }): Observed => {
    const { name } = node.metadata;
    const repair = dig(explanation, 'lifecycle', 'repair');
    const due = textOf(dig(repair, 'dueTime'));
    const claim = {
      node: name,
      kind: textOf(dig(repair, 'kind')) ?? '',
      message: textOf(dig(repair, 'message')) ?? '',
      due: due === undefined ? undefined : Date.parse(due),
    };
    const names = new Set([name, instanceOfNode(node) ?? name]);
    for (const owner of nodeClaims) if (names.has(instanceOfClaim(owner) ?? '')) names.add(owner.metadata.name);
    return { seed, now, claim, after: lines.filter(line => isAbout(line, names)) };
  });
}

const isAct = (line: JsonObject): boolean =>
  textAt(line, 'kind') === 'write' && ['delete', 'terminate', 'reboot'].includes(textAt(line, 'verb') ?? '');
/** The instant before which nothing is done, by what is claimed; undefined: it names none. */
export function datedOf({ kind, message, due }: Claim): number | undefined {
  if (kind === 'tolerate') return due;
  if (kind !== 'vetoed') return undefined;
  const until = / holds until (\d{4}-\S+Z)/.exec(message)?.[1];
  return until === undefined ? Infinity : Date.parse(until);
}

/** What is wrong with a claim; undefined: it came true. */
export function complaintOf({ seed, now, claim, after }: Observed): string | undefined {
  const why = judge(claim, after, now);
  const { node, kind, message } = claim;
  return why === undefined ? undefined : `seed ${seed}, ${toIsoText(now)}, Node ${node}: ${kind}, ${message}: ${why}`;
}

function judge(claim: Claim, after: readonly JsonObject[], now: number): string | undefined {
  const acts = after.filter(isAct);
  const [first] = acts;
  if (claim.kind === 'ignore' && claim.due === undefined)
    return first === undefined ? undefined : `and it is acted on at ${textAt(first, 't')}`;
  const until = datedOf(claim);
  if (until === undefined) return undefined;
  if (first !== undefined && timeOf(first) < until - EARLY)
    return `and it is acted on at ${textAt(first, 't')} already`;
  const isLooked = after.some(line => timeOf(line) >= until - EARLY && timeOf(line) <= until + LATE);
  const isInTime = until + LATE < now + HORIZON;
  return claim.kind === 'tolerate' && isInTime && !isLooked ? 'and nothing is done about it then' : undefined;
}
