import { describe, expect, it } from 'vitest';
import { EMPTY_TERMINATION } from '../../../../functions/finalizer/termination/record.ts';
import { isInstanceEnding, isInstanceMissing } from '../../../../functions/finalizer/termination/missing-instance.ts';
import type { StepContext } from '../../../../functions/finalizer/termination/context.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../../../shared/domain/time.ts';
import { TerminalError } from '../../../../shared/errors.ts';
import type { InstanceState } from '../../../../shared/ports/instances.ts';

const NOW = toEpochMs(Date.parse('2024-11-01T15:00:00Z'));
const metadata = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2024-11-01T09:00:00Z' };
const node = (status: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata,
  status: { conditions: [{ type: 'Ready', status, lastTransitionTime: '2024-11-01T09:00:00Z' }] },
});

interface Given {
  readonly nodes?: readonly KubernetesObject[];
  readonly providerID?: string | undefined;
  readonly isForced?: boolean;
  /** What EC2 says: a state, that it knows no such instance, or that it refuses to look. */
  readonly instance?: InstanceState | 'none' | 'refused';
  /** An end that this termination has asked for. */
  readonly ownEnd?: 'intended' | 'accepted';
}

/** What a step sees of the termination, as far as the instance goes. */
function context(given: Given): StepContext {
  const { nodes = [], isForced = false, instance = 'running', ownEnd } = given;
  const providerID = 'providerID' in given ? given.providerID : 'aws:///a/i-1';
  const observed = { nodes, providerID };
  const describeInstance = async () => {
    if (instance === 'refused') throw new TerminalError('Refused', 'not an instance of EC2');
    return instance === 'none' ? undefined : { state: instance };
  };
  const record = () => ({
    ...EMPTY_TERMINATION,
    ...(ownEnd && { instance: { number: 1, phase: ownEnd, intendedTime: NOW } }),
  });
  return { observed, now: NOW, isForced, record, deps: { instances: { describe: describeInstance } } } as never;
}

describe('the instance of a Node that no NodeClaim stands for', () => {
  it.each<[string, boolean, Given]>([
    ['runs on', false, {}],
    ['is ending', true, { instance: 'shutting-down' }],
    ['has ended', true, { instance: 'terminated' }],
    ['is gone', true, { instance: 'none' }],
    ['may be there where EC2 refuses to look for good', false, { instance: 'refused' }],
  ])('%s', async (_, expected, given) => {
    expect(await isInstanceEnding(context(given))).toBe(expected);
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
