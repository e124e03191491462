/** The termination of a node: from its deletion to its end, what it waited for, and its hooks. */
import type { LineOf } from '../trace/lines.ts';
import { hookCalledBy } from './hook-call.ts';
import { textAt, textsAt, timeAt, type Version } from './objects.ts';
import type { Decided } from './repair.ts';
import { isBudget } from './drain.ts';
import { Stretches } from './spans.ts';
import type { Bar, HookRow, Span, Wait } from './types.ts';

export interface TerminationOfNode {
  readonly bars: readonly Bar[];
  readonly waits: readonly Wait[];
  readonly hooks: readonly HookRow[];
  /** Never called. */
  readonly skippedHooks: readonly string[];
  /** Called, and not waited for. */
  readonly unawaitedHooks: readonly string[];
  /** Curfew began it, and repair did not ask for it. */
  readonly begun: number | undefined;
}

interface Sources {
  /** The decisions of the finalizer about the node, its claim and its pods, in order. */
  readonly decided: readonly Decided[];
  /** Its changes: among them are its calls of hooks. */
  readonly writes: readonly { readonly index: number; readonly time: number; readonly line: LineOf<'write'> }[];
  readonly versions: readonly Version[];
}

const WAITS: ReadonlySet<string> = new Set(['wait', 'retry', 'refuse', 'overdue']);
const ENDS: ReadonlySet<string> = new Set(['release', 'close', 'terminateInstance', 'hook', 'hookTimedOut', 'force']);

/** A call of a hook that failed is made again: it ends neither a wait for the hook nor the hook. */
const isFailedCall = ({ line }: Decided): boolean =>
  line.decision === 'hook' && line.reason === 'TerminationHookFailed';

/** @param until the end of the node, or of the trace */
export function terminationOf(
  { decided, writes, versions }: Sources,
  until: { readonly time: number; readonly isOpen: boolean },
): TerminationOfNode {
  const waits = new Stretches<Omit<Wait, keyof Span>>();
  const skippedHooks = new Set<string>();
  const unawaitedHooks = new Set<string>();
  let begun: Decided | undefined;
  for (const each of decided) {
    const { index, time, line } = each;
    const { decision, reason, message, details } = line;
    // `name (why)` of hooks that were not called, names of those that nothing waits for.
    for (const hook of textsAt(details, 'left')) skippedHooks.add(hook.split(' (')[0] ?? hook);
    for (const hook of textsAt(details, 'called')) unawaitedHooks.add(hook);
    if (decision === 'terminate') begun ??= each;
    if (WAITS.has(decision)) {
      if (waits.open?.detail === message) continue;
      waits.begin(time, { by: 'termination', reason, detail: message, isBudget: isBudget(message), line: index });
    } else if (ENDS.has(decision) && !isFailedCall(each)) waits.end(time);
  }
  waits.end(until.time, until.isOpen);
  const deleted = versions.find(({ object }) => textAt(object, 'metadata', 'deletionTimestamp') !== undefined);
  const from = Math.min(
    begun?.time ?? Infinity,
    deleted === undefined ? Infinity : (timeAt(deleted.object, 'metadata', 'deletionTimestamp') ?? deleted.time),
  );
  const bars: Bar[] = [];
  if (from < until.time || (from === until.time && !until.isOpen)) {
    const line = begun?.index ?? deleted?.line ?? 0;
    bars.push({
      kind: 'termination',
      label: 'Terminate',
      detail: begun?.line.message ?? 'the node is being deleted',
      from,
      to: until.time,
      isOpen: until.isOpen,
      line,
    });
  }
  return {
    bars,
    waits: waits.closed,
    hooks: firstCalls(decided, writes).map(call => hookOf(call, decided, unawaitedHooks, until)),
    skippedHooks: [...skippedHooks],
    unawaitedHooks: [...unawaitedHooks],
    begun: begun?.time,
  };
}

/** What is heard of a hook for the first time. */
interface HookCall {
  readonly index: number;
  readonly time: number;
  readonly name: string;
}

const isOfHook = ({ decision }: LineOf<'audit'>): boolean => decision.startsWith('hook');

/** A hook that failed is called again: its row begins with the first call, or with the failure to make one. */
function firstCalls(decided: Sources['decided'], writes: Sources['writes']): readonly HookCall[] {
  const heard = [
    ...writes.map(({ line, ...rest }) => ({ ...rest, name: hookCalledBy(line)?.name })),
    ...decided.map(({ line, ...rest }) => ({
      ...rest,
      name: isOfHook(line) ? textAt(line.details, 'hook') : undefined,
    })),
  ].toSorted((a, b) => a.index - b.index);
  const first = new Map<string, HookCall>();
  for (const { name, ...rest } of heard) {
    if (name !== undefined && !first.has(name)) first.set(name, { ...rest, name });
  }
  return [...first.values()];
}

function hookOf(
  { index, time, name }: HookCall,
  decided: readonly Decided[],
  unawaited: ReadonlySet<string>,
  until: { readonly time: number; readonly isOpen: boolean },
): HookRow {
  const answers = decided.filter(
    each => each.time >= time && isOfHook(each.line) && textAt(each.line.details, 'hook') === name,
  );
  const answer = answers.find(each => !isFailedCall(each)) ?? answers.at(-1);
  const base = { name, from: time, line: index };
  if (answer === undefined && unawaited.has(name))
    return { ...base, to: time, isOpen: false, result: 'not waited for', detail: 'called, and not waited for' };
  if (answer === undefined)
    return { ...base, to: until.time, isOpen: until.isOpen, result: 'running', detail: 'no answer' };
  const result = isFailedCall(answer) ? 'failed' : answer.line.decision === 'hook' ? 'succeeded' : 'timed out';
  return { ...base, to: answer.time, isOpen: false, result, detail: answer.line.message };
}
