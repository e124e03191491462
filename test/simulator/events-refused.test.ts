/** The API server takes no Event at all: each deletion, eviction and hold happens as it does else, and has its audit line (I2, I6). */
import { describe, expect, it } from 'vitest';
import { RECONCILERS, type ReconcilerFactory } from '../../runtime/functions.ts';
import { createEventRecorder } from '../../shared/adapters/kubernetes/event-recorder.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../shared/contract/names.ts';
import { RetryableError } from '../../shared/errors.ts';
import { runScenario } from '../../simulator/run.ts';
import type { TraceEntry } from '../../simulator/trace.ts';
import { scenariosIn } from '../examples/files.ts';

/** All functions, whose calls about Events all fail. @param lost the reasons of those Events */
function withoutEvents(lost: Set<string>): Readonly<Partial<Record<FunctionName, ReconcilerFactory>>> {
  const fails = () => Promise.reject(new RetryableError('no Event is taken', { reason: 'Status500' }));
  const kubernetes = { get: fails, create: fails, patch: fails };
  const wrap =
    (reconciler: ReconcilerFactory): ReconcilerFactory =>
    deps => {
      const { clock } = deps;
      const events = createEventRecorder({
        kubernetes,
        clock,
        instance: 'test',
        onFailure: ({ reason }) => lost.add(reason),
      });
      return reconciler({ ...deps, events });
    };
  return Object.fromEntries(FUNCTION_NAMES.map(name => [name, wrap(RECONCILERS[name])]));
}

/** Versions and UIDs count the Events, too. */
const TOLD = ['t', 'kind', 'by', 'function', 'verb', 'resource', 'namespace', 'name', 'decision', 'reason', 'message'];

const told = (trace: readonly TraceEntry[]): readonly object[] =>
  trace
    .filter(({ kind }) => kind === 'audit' || kind === 'write')
    .map(({ line }) => Object.fromEntries(Object.entries(line).filter(([key]) => TOLD.includes(key))));

describe('while no Event can be recorded, all is done and written down as before', () => {
  it.each<[FunctionName, string, readonly string[], readonly string[]]>([
    ['repair', 'repair-obeys-a-veto.yaml', ['repair', 'vetoed'], ['NodeRepairVetoed']],
    ['repair', 'repair-keeps-to-its-budget.yaml', ['repair', 'blocked'], ['NodeRepairBlocked', 'NodeRepairStarted']],
    ['repair', 'repair-reboots-first.yaml', ['repair', 'recovered'], ['NodeRepairSucceeded']],
    ['grace-period', 'do-not-disrupt-in-seconds.yaml', ['hold', 'release'], ['DoNotDisruptGracePeriodElapsed']],
    ['drain', 'drain-forces.yaml', ['evict', 'end'], ['DrainSucceeded']],
    ['drain', 'drain-evicts-at-once.yaml', ['evict', 'end'], ['Evicted']],
    ['drain', 'drain-protects.yaml', ['wait', 'end'], ['FailedDraining']],
    ['finalizer', 'finalizer-drain.yaml', ['evict', 'wait', 'release'], ['Evicted', 'FailedDraining']],
    ['finalizer', 'finalizer-deadline.yaml', ['forceDelete', 'terminateInstance'], ['Disrupted']],
    ['finalizer', 'finalizer-hooks.yaml', ['hook', 'wait'], ['TerminationHookFailed']],
    ['finalizer', 'finalizer-rule.yaml', ['hold', 'release', 'retry', 'orphan'], ['FinalizationError']],
  ])('%s, in %s', async (name, file, decisions, reasons) => {
    const lost = new Set<string>();
    const seen = new Set<unknown>();
    for (const scenario of scenariosIn(file)) {
      const usual = await runScenario(scenario);
      const silent = await runScenario(scenario, { reconcilers: withoutEvents(lost) });
      expect(told(silent.trace)).toEqual(told(usual.trace));
      expect(silent.trace.filter(({ kind }) => kind === 'event')).toEqual([]);
      for (const { line } of silent.trace) if (line['function'] === name) seen.add(line['decision']);
    }
    expect([...seen]).toEqual(expect.arrayContaining([...decisions]));
    expect([...lost]).toEqual(expect.arrayContaining([...reasons]));
  });
});
