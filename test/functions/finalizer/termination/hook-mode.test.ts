import { describe, expect, it } from 'vitest';
import { hookModeOf, type HookMode } from '../../../../functions/finalizer/termination/hook-mode.ts';
import { EMPTY_TERMINATION } from '../../../../functions/finalizer/termination/record.ts';
import { isInstanceMissing } from '../../../../functions/finalizer/termination/missing-instance.ts';
import type { TerminationContext } from '../../../../functions/finalizer/termination/context.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import type { HookPoint } from '../../../../shared/domain/termination.ts';
import { toEpochMs } from '../../../../shared/domain/time.ts';
import { TerminalError } from '../../../../shared/errors.ts';
import type { InstanceState } from '../../../../shared/ports/instances.ts';

const NOW = toEpochMs(Date.parse('2024-11-01T15:00:00Z'));
const metadata = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2024-11-01T09:00:00Z' };
const claim = (...finalizers: readonly string[]): KubernetesObject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { ...metadata, finalizers: [...finalizers] },
});
const node = (status: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata,
  status: { conditions: [{ type: 'Ready', status, lastTransitionTime: '2024-11-01T09:00:00Z' }] },
});

interface Given {
  readonly claim?: KubernetesObject;
  readonly nodes?: readonly KubernetesObject[];
  readonly providerID?: string | undefined;
  readonly sharedWith?: readonly string[];
  readonly isForced?: boolean;
  /** What EC2 says: a state, that it knows no such instance, or that it refuses to look. */
  readonly instance?: InstanceState | 'none' | 'refused';
  /** An end that this termination has asked for. */
  readonly ownEnd?: 'intended' | 'accepted';
}

/** What a step sees of the termination, as far as the instance goes. */
function context(given: Given): TerminationContext {
  const { claim: own, nodes = [], sharedWith = [], isForced = false, instance = 'running', ownEnd } = given;
  const providerID = 'providerID' in given ? given.providerID : 'aws:///a/i-1';
  const observed = { claim: own, nodes, providerID, sharedWith };
  const describeInstance = async () => {
    if (instance === 'refused') throw new TerminalError('Refused', 'not an instance of EC2');
    return instance === 'none' ? undefined : { state: instance };
  };
  const state = () => ({
    ...EMPTY_TERMINATION,
    ...(ownEnd && { instance: { number: 1, phase: ownEnd, intendedTime: NOW } }),
  });
  return { observed, now: NOW, isForced, state, deps: { instances: { describe: describeInstance } } } as never;
}

const OURS = claim('example.com/custom');
const BOTH = claim('example.com/custom', 'karpenter.sh/termination');

describe('hooks', () => {
  it.each<[string, Given, HookPoint, HookMode['kind']]>([
    ['are awaited where we end the instance', { claim: OURS }, 'before-drain', 'awaited'],
    ['are called once beside Karpenter', { claim: BOTH }, 'before-drain', 'once'],
    ['are called once beside Karpenter before the end, too', { claim: BOTH }, 'before-terminate', 'once'],
    ['are awaited after the end, also beside Karpenter', { claim: BOTH }, 'after-terminate', 'awaited'],
    ['are forced at the deadline', { claim: OURS, isForced: true }, 'before-drain', 'forced'],
    ['are forced at the deadline beside Karpenter', { claim: BOTH, isForced: true }, 'before-drain', 'forced'],
    ['are never called without an instance', { claim: OURS, providerID: undefined }, 'before-drain', 'never'],
    [
      'are never called for an instance that another NodeClaim has',
      { claim: OURS, sharedWith: ['b'] },
      'before-drain',
      'never',
    ],
    [
      'are never called for it at the deadline, either',
      { claim: OURS, sharedWith: ['b'], isForced: true },
      'before-drain',
      'never',
    ],
    ['are never called for a Node whose instance runs on', {}, 'after-terminate', 'never'],
    ['are called for a Node whose instance is ending', { instance: 'shutting-down' }, 'after-terminate', 'awaited'],
    ['are called for a Node whose instance has ended', { instance: 'terminated' }, 'after-terminate', 'awaited'],
    ['are called for a Node whose instance is gone', { instance: 'none' }, 'after-terminate', 'awaited'],
    [
      'are never called for a Node of whose instance EC2 says nothing',
      { instance: 'refused' },
      'after-terminate',
      'never',
    ],
  ])('%s', async (_, given, point, expected) => {
    expect((await hookModeOf(context(given), point)).kind).toBe(expected);
  });
});

describe('nothing is drained', () => {
  const READY = [node('True')];
  const SILENT = [node('Unknown')];
  it.each<[string, boolean, Given]>([
    ['where the instance runs', false, { nodes: SILENT }],
    ['where it is stopped, whatever its Node says', true, { nodes: READY, instance: 'stopped' }],
    ['where it is gone and no Node of it is Ready', true, { nodes: SILENT, instance: 'none' }],
    ['where it is gone and a kubelet speaks', false, { nodes: READY, instance: 'none' }],
    ['where it has ended and no Node of it is Ready', true, { nodes: SILENT, instance: 'terminated' }],
    ['while it goes, and nobody here has asked for that', false, { nodes: SILENT, instance: 'shutting-down' }],
    ['while it goes because we asked', true, { nodes: READY, instance: 'shutting-down', ownEnd: 'accepted' }],
    [
      'while it goes, and our call may not have been made',
      false,
      { nodes: READY, instance: 'shutting-down', ownEnd: 'intended' },
    ],
    [
      'while it goes because we asked, at the deadline',
      false,
      { nodes: READY, instance: 'shutting-down', ownEnd: 'accepted', isForced: true },
    ],
    ['where EC2 refuses to look at it for good', false, { nodes: SILENT, instance: 'refused' }],
    ['where there never was an instance', false, { nodes: SILENT, providerID: undefined }],
  ])('%s: %s', async (_, expected, given) => {
    expect(await isInstanceMissing(context(given))).toBe(expected);
  });
});
