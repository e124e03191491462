/** What a run comes to is read off its audit lines: what was done, and what was held from when to when. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import { formatOutcome, outcomeOf } from '../../simulator/outcome.ts';
import type { TraceEntry } from '../../simulator/trace.ts';
import { simulate } from './simulate.ts';

/** `MINUTE FUNCTION DECISION REASON NODE`. */
function audit(text: string): TraceEntry {
  const [minute = '', by = '', decision = '', reason = '', name = ''] = text.split(' ');
  const t = `2024-11-01T15:${minute.padStart(2, '0')}:00.000Z`;
  const about = { kind: 'Node', name };
  const line = { t, kind: 'audit', function: by, decision, reason, message: `${reason} of ${name}`, about };
  return { time: toEpochMs(Date.parse(t)), kind: 'audit', group: '', line };
}

function entryOf(kind: 'object' | 'write', minute: string, fields: JsonObject): TraceEntry {
  const t = `2024-11-01T15:${minute.padStart(2, '0')}:00.000Z`;
  const line = { t, kind, resource: 'nodes', ...fields };
  return { time: toEpochMs(Date.parse(t)), kind, group: '', line };
}

/** `MINUTE NODE`. */
function node(text: string, fields: JsonObject): TraceEntry {
  const [minute = '', name = ''] = text.split(' ');
  return entryOf('object', minute, { name, ...fields });
}

/** `MINUTE FUNCTION NODE`. */
function write(text: string, subresource?: string): TraceEntry {
  const [minute = '', by = '', name = ''] = text.split(' ');
  return entryOf('write', minute, { by, verb: 'patch', name, ...(subresource !== undefined && { subresource }) });
}

const told = (...lines: string[]): readonly string[] => formatOutcome(outcomeOf(lines.map(audit)));

describe('what a run comes to', () => {
  it('says what was done, and that nothing was held', () => {
    expect(
      told(
        '0 repair tolerate WithinToleration n1',
        '9 repair repair TolerationElapsed n1',
        '9 drain end DrainSucceeded n2',
      ),
    ).toEqual([
      'done:',
      '  2024-11-01T15:09:00Z  Node n1 repaired: TolerationElapsed of n1',
      '  2024-11-01T15:09:00Z  Node n2 drained: DrainSucceeded of n2',
      'under way at the end:',
      '  since 2024-11-01T15:09:00Z  Node n1 repaired',
      'nothing was held',
    ]);
  });

  it('goes on with a wait for a hook whose call failed again, and ends it with the one that succeeded', () => {
    const failed = ['0 finalizer wait Waiting n1', '1 finalizer hook TerminationHookFailed n1'];
    const held = (to: string): string =>
      `  2024-11-01T15:00:00Z to ${to}  Node n1 by finalizer (Waiting): Waiting of n1`;
    expect(told(...failed)).toContain(held('the end'));
    expect(told(...failed, '5 finalizer hook HookSucceeded n1')).toContain(held('2024-11-01T15:05:00Z'));
    expect(told(...failed, '7 finalizer hookTimedOut TerminationHookFailed n1')).toContain(
      held('2024-11-01T15:07:00Z'),
    );
  });

  it('says which act of a repair is under way, until when, what follows, and which entry decided', () => {
    const { line, ...entry } = audit('9 repair repair TolerationElapsed n1');
    const details = {
      action: 'Reboot',
      until: '2024-11-01T15:19:00.000Z',
      follows: ['Drain', 'Terminate'],
      decidedBy: [{ kind: 'NodePool', name: 'web', field: 'spec.repair.policies' }],
    };
    const begun: TraceEntry = { ...entry, line: { ...line, details } };
    const rest =
      'Node n1 reboot by repair begun, has time until 2024-11-01T15:19:00Z, then Drain, Terminate, by spec.repair.policies of NodePool web';
    expect(formatOutcome(outcomeOf([begun]))).toEqual([
      'done:',
      `  2024-11-01T15:09:00Z  ${rest}: TolerationElapsed of n1`,
      'under way at the end:',
      `  since 2024-11-01T15:09:00Z  ${rest}`,
      'nothing was held',
    ]);
    expect(outcomeOf([begun, audit('12 repair recovered Recovered n1')]).underWay).toEqual([]);
    // It was called off: nothing is to be done any more.
    expect(outcomeOf([begun, audit('12 repair ignore NotConfigured n1')]).underWay).toEqual([]);
  });

  it('takes no warning about a policy that is in force for what is held', () => {
    const warned = ['0 repair refuse UnknownConditionType p', '0 repair refuse NodeLifecyclePolicyConflict p'];
    expect(told(...warned)).toEqual(['nothing was done', 'nothing was held']);
    expect(told('0 repair refuse InvalidRepairConfiguration p', ...warned).at(-1)).toContain(
      'p by repair (InvalidRepair',
    );
  });

  it('says from when to when a repair was held, and by what', () => {
    expect(
      told(
        '0 repair tolerate WithinToleration n1',
        '5 repair blocked UnhealthyThreshold n1',
        '6 repair blocked UnhealthyThreshold n1',
        '7 repair blocked ZoneOutage n1',
        '9 repair recovered Recovered n1',
      ),
    ).toEqual([
      'nothing was done',
      'held:',
      '  2024-11-01T15:05:00Z to 2024-11-01T15:07:00Z  Node n1 by repair (UnhealthyThreshold): UnhealthyThreshold of n1',
      '  2024-11-01T15:07:00Z to 2024-11-01T15:09:00Z  Node n1 by repair (ZoneOutage): ZoneOutage of n1',
    ]);
  });

  it('says what still held at the end: a toleration, several waits of one drain, a protection', () => {
    expect(
      told(
        '0 repair tolerate WithinToleration n1',
        '1 drain wait AwaitingPodCompletion n2',
        '2 drain wait FailedDraining n2',
        '3 drain take DrainJoined n2',
        '4 grace-period hold PodsProtected n3',
      ),
    ).toEqual([
      'nothing was done',
      'held:',
      '  2024-11-01T15:00:00Z to the end  Node n1 by repair (WithinToleration): WithinToleration of n1',
      '  2024-11-01T15:01:00Z to the end  Node n2 by drain (AwaitingPodCompletion): AwaitingPodCompletion of n2',
      '  2024-11-01T15:02:00Z to the end  Node n2 by drain (FailedDraining): FailedDraining of n2',
      '  2024-11-01T15:04:00Z to the end  Node n3 by grace-period (PodsProtected): PodsProtected of n3',
    ]);
  });

  it('says when a protection was over', () => {
    expect(told('1 grace-period hold PodsProtected n3', '9 grace-period release GracePeriodElapsed n3')).toEqual([
      'done:',
      '  2024-11-01T15:09:00Z  Node n3 open to disruption again: GracePeriodElapsed of n3',
      'held:',
      '  2024-11-01T15:01:00Z to 2024-11-01T15:09:00Z  Node n3 by grace-period (PodsProtected): PodsProtected of n3',
    ]);
  });

  it('ends all waits of a drain with the drain', () => {
    const { held } = outcomeOf(
      ['1 drain wait AwaitingPodCompletion n2', '2 drain wait FailedDraining n2', '5 drain end DrainCancelled n2'].map(
        audit,
      ),
    );
    expect(held.map(({ to }) => to)).toEqual(['2024-11-01T15:05:00.000Z', '2024-11-01T15:05:00.000Z']);
  });

  it('ends what was held of an object with the object', () => {
    const held = (to: string): string =>
      `  2024-11-01T15:01:00Z to ${to}  Node n1 by finalizer (Waiting): Waiting of n1`;
    const waits = ['0 finalizer wait FailedDraining n2', '1 finalizer wait Waiting n1'];
    expect(told(...waits, '7 finalizer orphan PossibleOrphan n1')).toContain(held('2024-11-01T15:07:00Z'));
    const gone = [node('0 n1', { object: { kind: 'Node' } }), ...waits.map(audit), node('8 n1', { gone: true })];
    expect(formatOutcome(outcomeOf(gone))).toEqual([
      'nothing was done',
      'held:',
      '  2024-11-01T15:00:00Z to the end  Node n2 by finalizer (FailedDraining): FailedDraining of n2',
      held('2024-11-01T15:08:00Z'),
    ]);
  });

  it('ends a refused change with the next change of that object by the same function', () => {
    const refused = [node('0 n1', { object: { kind: 'Node' } }), audit('1 finalizer wait NodeChangeRefused n1')];
    const ends = (...entries: TraceEntry[]) => outcomeOf([...refused, ...entries]).held.map(({ to }) => to);
    expect(ends(write('5 repair n1'), write('6 finalizer n1', 'status'), write('7 finalizer n2'))).toEqual([undefined]);
    expect(ends(write('8 finalizer n1'))).toEqual(['2024-11-01T15:08:00.000Z']);
  });

  it('ends a refused policy with the edit that corrects it, or with the policy', async () => {
    const { trace } = await simulate(
      `  objects:
    - { apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: a }, spec: { nodePoolSelector: {}, mode: Enforce, termination: { finalizerName: karpenter.sh/a } } }
    - { apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: b }, spec: { nodePoolSelector: {}, mode: Enforce, termination: { finalizerName: karpenter.sh/b } } }
    - { apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: c }, spec: { nodePoolSelector: {}, mode: Enforce, termination: { finalizerName: karpenter.sh/c } } }
  steps:
    - { at: 5m, patch: { resource: nodelifecyclepolicies, name: a, merge: { spec: { mode: Observe } } } }
    - { at: 8m, patch: { resource: nodelifecyclepolicies, name: a, merge: { spec: { termination: { finalizerName: example.com/a } } } } }
    - { at: 9m, delete: { resource: nodelifecyclepolicies, name: b } }
    - { at: 9m, patch: { resource: nodelifecyclepolicies, name: c, merge: { spec: { mode: Observe } } } }
`,
      { recordsObjects: true },
    );
    const held = outcomeOf(trace).held.filter(({ by }) => by === 'finalizer');
    expect(new Map(held.map(({ object, from, to }) => [object, [from, to]]))).toEqual(
      new Map([
        ['NodeLifecyclePolicy a', ['2024-11-01T15:00:00.000Z', '2024-11-01T15:08:00.000Z']],
        ['NodeLifecyclePolicy b', ['2024-11-01T15:00:00.000Z', '2024-11-01T15:09:00.000Z']],
        ['NodeLifecyclePolicy c', ['2024-11-01T15:00:00.000Z', undefined]],
      ]),
    );
  });
});
