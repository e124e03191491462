/** Audit lines that say nothing new: the same words about one object as the line before about it, by the same function. */
import { objectAt, textAt } from '../../packages/kube-apiserver/src/json.ts';
import type { TraceEntry } from '../../simulator/trace.ts';

/** What may be said again in the same words, and why. */
export const SAID_AGAIN: Readonly<Record<string, string>> = {
  'grace-period refuse InvalidProtectionConfiguration':
    'a policy with a mistake, at each edit of it and each restart of the forwarder',
  'drain wait DrainPodsComeBack': 'at each return of a pod, of which there are three at most',
  'drain refuse InvalidDrainConfiguration':
    'a policy with a mistake, at each edit of it and each restart of the forwarder',
  'drain refuse NodeLifecyclePolicyConflict': 'a policy that another one overrides, at each edit of one of them',
  'finalizer refuse InvalidTerminationConfiguration':
    'a policy with a mistake, at each edit of it and each restart of the forwarder',
  'grace-period refuse NodeLifecyclePolicyConflict': 'a policy that another one overrides, at each edit of one of them',
  'grace-period invalid InvalidDoNotDisruptAnnotation': 'the annotation went and came again',
  'finalizer prepare FinalizerAdded': 'somebody took the finalizer off: it was put on again',
  'finalizer hold FinalizerRestored': 'the same on an object of a FinalizerRule',
  'repair refuse InvalidRepairConfiguration': 'a policy with a mistake, at each edit of it',
  'repair refuse NodeLifecyclePolicyConflict': 'a policy that another one overrides, at each edit of one of them',
  'repair ignore NotConfigured':
    'an unhealthy node that no block covers, at each change of it: nothing is remembered of it',
  'repair ignore GateOff': 'the same while the gate is closed',
  'repair warn HooksDoNotHold': 'a NodePool was deleted and made again: the policy selects another one',
  'finalizer warn FinalizerWithoutRule': 'once a day, until the rule is there again or the finalizer is off',
  'finalizer orphan PossibleOrphan': 'once a day, until the instance has gone',
};

/** `function decision reason` of each repetition, with the instants of both lines. */
export function repeatedLines(trace: readonly TraceEntry[]): readonly string[] {
  const last = new Map<string, { readonly text: string; readonly t: unknown }>();
  return trace.flatMap(({ kind, line }) => {
    // What was done to an object is done again to the one that a restored cluster has.
    if (kind === 'step' && textAt(objectAt(line, 'about'), 'restore') === 'cluster') last.clear();
    if (kind !== 'audit') return [];
    const { t, ...said } = line;
    const text = JSON.stringify(said);
    const about = JSON.stringify([said['function'], said['namespace'], said['name'], said['uid']]);
    const before = last.get(about);
    last.set(about, { text, t });
    const what = words(said['function'], said['decision'], said['reason']);
    if (before?.text !== text || what in SAID_AGAIN) return [];
    return [words(what, 'about', said['name'], 'at', before.t, 'and at', t)];
  });
}

const words = (...values: readonly unknown[]): string => values.filter(value => typeof value === 'string').join(' ');
