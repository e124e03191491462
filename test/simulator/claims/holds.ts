/**
 * What `curfew explain` claims of drains, terminations and protections at an instant: what is not done before an instant, and is done then. Held
 * against what happens after it when nobody interferes.
 */
import { textAt } from '../../../packages/kube-apiserver/src/json.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../../shared/domain/time.ts';
import { dig, listOf, textOf } from '../../../simulator/invariants/reading.ts';
import type { Step, StepAction } from '../../../simulator/scenario/scenario.ts';
import { HORIZON, isAbout, observeInstant, ownerOf, timeOf, type Instant } from './instant.ts';

export interface Hold {
  readonly of: 'drain' | 'termination' | 'hook' | 'deadline' | 'protection';
  /** In words, for a complaint. */
  readonly what: string;
  /** Before that instant no such act comes; undefined: it may come at any time. ms */
  readonly notBefore: number | undefined;
  /** Then it has come, or what is in its way was said; undefined: nobody knows when. ms */
  readonly by: number | undefined;
}

export interface ObservedHold {
  readonly seed: number;
  readonly now: number;
  readonly hold: Hold;
  /** When it was acted on. ms */
  readonly acts: readonly number[];
  /** When something was said of it, or made it needless. ms */
  readonly said: readonly number[];
}

/** What is due is done within two minutes, or is said to be held. */
const LATE = 120_000;
const EARLY = 2_000;

/** Of the installation, not of the cluster: how late what is due may be then is not claimed. */
const UPHEAVALS: ReadonlySet<StepAction['kind']> = new Set([
  'refuse',
  'outage',
  'delay',
  'rollback',
  'restore',
  'restart',
  'redrive',
]);

/** What asks for a drain, or ends a node. */
const begins = ({ action }: Step): boolean =>
  action.kind === 'busEvent' ||
  (action.kind === 'delete' && ['nodes', 'nodeclaims'].includes(action.target.resource)) ||
  (action.kind === 'apply' && action.manifest.kind === 'Pod');

const isStory = ({ action }: Step): boolean => !UPHEAVALS.has(action.kind);

export async function observeHolds(seed: number): Promise<readonly ObservedHold[]> {
  const instant = await observeInstant(seed, begins, isStory);
  return instant === undefined ? [] : instant.nodes.flatMap(each => holdsOf(instant, each));
}

const msOf = (text: unknown): number | undefined => {
  const ms = Date.parse(textOf(text) ?? '');
  return Number.isNaN(ms) ? undefined : ms;
};

function holdsOf(instant: Instant, { node, explanation }: Instant['nodes'][number]): readonly ObservedHold[] {
  const { name } = node.metadata;
  const names = new Set([name]);
  for (const { metadata, status } of instant.nodeClaims)
    if (dig(status, 'providerID') === dig(node, 'spec', 'providerID')) names.add(metadata.name);
  const context = { ...instant, name, names, explanation };
  return [...drainHolds(context), ...terminationHolds(context), ...protectionHolds(context)];
}

interface Context extends Instant {
  readonly name: string;
  /** Of the Node and of its NodeClaims. */
  readonly names: ReadonlySet<string>;
  readonly explanation: unknown;
}

type Is = (line: JsonObject) => boolean;

const timesOf = (lines: readonly JsonObject[], is: Is): readonly number[] => lines.filter(is).map(timeOf);

function observed(
  { seed, now, name }: Context,
  hold: Hold,
  lines: readonly JsonObject[],
  { isAct, isSaid }: { readonly isAct: Is; readonly isSaid: Is },
): ObservedHold {
  const said = [...timesOf(lines, isAct), ...timesOf(lines, isSaid)];
  return { seed, now, hold: { ...hold, what: `Node ${name}: ${hold.what}` }, acts: timesOf(lines, isAct), said };
}

const isWrite = (line: JsonObject, by: string, verbs: readonly string[]): boolean =>
  textAt(line, 'kind') === 'write' && ownerOf(line) === by && verbs.includes(textAt(line, 'verb') ?? '');

const ofPod =
  (namespace: string, name: string): Is =>
  line =>
    line['name'] === name && line['namespace'] === namespace && (line['resource'] ?? 'pods') === 'pods';

const isAudit = (line: JsonObject, by: string, ...decisions: readonly string[]): boolean =>
  textAt(line, 'kind') === 'audit' && ownerOf(line) === by && decisions.includes(textAt(line, 'decision') ?? '');

interface Planned {
  readonly namespace: string;
  readonly name: string;
  readonly action: string;
  readonly because: string;
  readonly time: number | undefined;
  readonly blockers: readonly string[];
}

const plannedIn = (plan: unknown): readonly Planned[] =>
  listOf(plan).map(pod => ({
    namespace: textOf(dig(pod, 'namespace')) ?? '',
    name: textOf(dig(pod, 'name')) ?? '',
    action: textOf(dig(pod, 'action')) ?? '',
    because: textOf(dig(pod, 'because')) ?? '',
    time: msOf(dig(pod, 'time')),
    blockers: listOf(dig(pod, 'blockers')).map(String),
  }));

/** When a protection among the blockers ends; Infinity: nobody knows, undefined: there is none. */
function protectedUntil({ blockers }: Planned): number | undefined {
  const found = blockers.find(text => text.startsWith('protected'));
  return found === undefined ? undefined : (msOf(/ until (\S+)$/.exec(found)?.[1]) ?? Infinity);
}

function drainHolds(context: Context): readonly ObservedHold[] {
  const { explanation, name, now, after } = context;
  const underWay = dig(explanation, 'lifecycle', 'drain', 'underWay');
  const held = textOf(dig(underWay, 'plan', 'held'));
  // Which configuration is in force cannot be seen there, and is not claimed.
  if (underWay === undefined || held?.startsWith('the configuration is not valid') === true) return [];
  const isHeld = dig(underWay, 'waits') === true || held !== undefined;
  // The next drain, or how this one goes on by other rules, is not what was claimed.
  const ends: Is = line =>
    isAudit(line, 'drain', 'begin', 'end', 'close', 'cancel', 'release', 'fallBack') && line['name'] === name;
  const end = timesOf(after, ends)[0] ?? Infinity;
  const lines = after.filter(line => timeOf(line) < end);
  return plannedIn(dig(underWay, 'plan', 'pods')).flatMap(pod => {
    const dates = isHeld ? { notBefore: Infinity, by: undefined } : drainDates(pod, now);
    if (dates === undefined) return [];
    const isMeant = ofPod(pod.namespace, pod.name);
    const what = `drain ${String(dig(underWay, 'id'))}, pod ${pod.namespace}/${pod.name}: ${isHeld ? 'held' : pod.because}`;
    return observed(context, { of: 'drain', what, ...dates }, [...lines, ...endOf(end)], {
      isAct: line => isMeant(line) && isWrite(line, 'drain', ['evict', 'delete']),
      isSaid: line => isMeant(line) || (ownerOf(line) === 'drain' && line['name'] === name) || 'ends' in line,
    });
  });
}

/** Stands for all that comes after it. */
const endOf = (time: number): readonly JsonObject[] =>
  time === Infinity ? [] : [{ t: toIsoText(toEpochMs(time)), ends: true }];

function drainDates(pod: Planned, now: number): Pick<Hold, 'notBefore' | 'by'> | undefined {
  const { action, time, blockers } = pod;
  if (action === 'unknown') return undefined;
  if (action !== 'evict' && action !== 'delete') return { notBefore: Infinity, by: undefined };
  if (time !== undefined) return { notBefore: time, by: blockers.length === 0 ? time : undefined };
  const until = protectedUntil(pod);
  return { notBefore: until, by: blockers.length === 0 ? now : undefined };
}

function terminationHolds(context: Context): readonly ObservedHold[] {
  const { explanation, names, now, after } = context;
  const termination = dig(explanation, 'lifecycle', 'termination');
  if (dig(termination, 'pods') === undefined) return [];
  const isOfIt: Is = line => ownerOf(line) === 'finalizer' && isAbout(line, names);
  const isOver: Is = line => isAudit(line, 'finalizer', 'release', 'close', 'force') && isAbout(line, names);
  const deadline = msOf(dig(explanation, 'deadline', 'time'));
  const holds: ObservedHold[] = [];
  for (const pod of plannedIn(dig(termination, 'pods'))) {
    const isMeant = ofPod(pod.namespace, pod.name);
    const what = `termination, pod ${pod.namespace}/${pod.name}: ${pod.because}`;
    const isStaying = pod.action === 'leave' || pod.action === 'ignore';
    const until = isStaying ? Infinity : protectedUntil(pod);
    const isAct =
      (...verbs: readonly string[]): Is =>
      line =>
        isMeant(line) && isWrite(line, 'finalizer', verbs);
    const isSaid: Is = line => isMeant(line) || isOfIt(line);
    const notBefore = until === undefined ? undefined : Math.min(until, pod.time ?? Infinity);
    holds.push(
      observed(context, { of: 'termination', what, notBefore, by: undefined }, after, {
        isAct: isAct('evict', 'delete'),
        isSaid,
      }),
    );
    if (pod.time === undefined) continue;
    holds.push(
      observed(context, { of: 'termination', what, notBefore: pod.time, by: pod.time }, after, {
        isAct: isAct('delete'),
        isSaid,
      }),
    );
  }
  for (const hook of listOf(dig(termination, 'hooks'))) {
    const hookName = textOf(dig(hook, 'name')) ?? '';
    const until = msOf(dig(hook, 'until'));
    const isOfHook: Is = line => isOfIt(line) && dig(line, 'details', 'hook') === hookName;
    holds.push(
      observed(context, { of: 'hook', what: `hook ${hookName}`, notBefore: until, by: until }, after, {
        isAct: line => isOfHook(line) && isAudit(line, 'finalizer', 'hookTimedOut'),
        isSaid: line => isOfHook(line) || isOver(line),
      }),
    );
  }
  if (deadline !== undefined && deadline > now) {
    holds.push(
      observed(context, { of: 'deadline', what: 'the deadline', notBefore: deadline, by: deadline }, after, {
        isAct: line => isAudit(line, 'finalizer', 'force') && isAbout(line, names),
        isSaid: isOver,
      }),
    );
  }
  return holds;
}

function protectionHolds(context: Context): readonly ObservedHold[] {
  const { explanation, name, after } = context;
  const until = msOf(dig(explanation, 'annotation', 'until'));
  const isOurs = dig(explanation, 'annotation', 'kind') === 'ours';
  if (!isOurs || until === undefined || msOf(dig(explanation, 'verdict', 'until')) !== until) return [];
  const pods = listOf(dig(explanation, 'pods')).filter(pod => dig(pod, 'protected') === true);
  const isPod: Is = line =>
    pods.some(pod => ofPod(textOf(dig(pod, 'namespace')) ?? '', textOf(dig(pod, 'name')) ?? '')(line)) &&
    ['evict', 'delete'].includes(textAt(line, 'verb') ?? '');
  // A pod that goes before takes its protection with it; so does the Node.
  const isGone: Is = line => isPod(line) || (line['name'] === name && textAt(line, 'verb') === 'delete');
  const end = timesOf(after, isGone)[0] ?? Infinity;
  const lines = [...after.filter(line => timeOf(line) < end), ...endOf(end)];
  return [
    observed(
      context,
      { of: 'protection', what: `held until ${toIsoText(toEpochMs(until))}`, notBefore: until, by: until },
      lines,
      {
        isAct: line => isAudit(line, 'grace-period', 'release', 'disown') && line['name'] === name,
        isSaid: line => 'ends' in line,
      },
    ),
  ];
}

/** What is wrong with a claim; undefined: it came true. */
export function complaintOfHold({ seed, now, hold, acts, said }: ObservedHold): string | undefined {
  const text = (ms: number): string => (Number.isFinite(ms) ? toIsoText(toEpochMs(ms)) : 'ever');
  const complaint = (why: string): string => `seed ${seed}, ${text(now)}, ${hold.what}: ${why}`;
  const { notBefore, by } = hold;
  const [first] = acts;
  if (first !== undefined && notBefore !== undefined && first < notBefore - EARLY)
    return complaint(`and it is acted on at ${text(first)}, before ${text(notBefore)}`);
  if (by === undefined || by + LATE >= now + HORIZON || said.some(time => time <= by + LATE)) return undefined;
  return complaint(`and nothing is done about it by ${text(by)}`);
}
