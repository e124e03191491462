import { describe, expect, it } from 'vitest';
import {
  hasReadyNode,
  isEnding,
  isMissing,
  needsAnswer,
  type InstanceLook,
} from '../../../../../functions/finalizer/termination/rule/instance.ts';
import type { KubernetesObject } from '../../../../../shared/domain/kubernetes-object.ts';
import { at } from '../../../../builders/repair.ts';

const SILENT = { hasReadyNode: false, isForced: false };
const SPEAKS = { hasReadyNode: true, isForced: false };
const SILENT_PAST_DEADLINE = { hasReadyNode: false, isForced: true };
const SPEAKS_PAST_DEADLINE = { hasReadyNode: true, isForced: true };
const STOPPED: InstanceLook = { kind: 'stopped' };
const GONE: InstanceLook = { kind: 'gone' };
const GOES: InstanceLook = { kind: 'shuttingDown' };
const HERE: InstanceLook = { kind: 'here' };
const TOO_YOUNG: InstanceLook = { kind: 'tooYoung', until: at('2024-11-01T15:00:00Z') };
const ACCEPTED = { phase: 'accepted' } as const;
const INTENDED = { phase: 'intended' } as const;

describe('an instance is missing', () => {
  it.each<[string, boolean, Parameters<typeof isMissing>]>([
    ['where it is stopped, whatever its Node says', true, [STOPPED, SPEAKS, undefined]],
    ['where it is stopped, at the deadline', true, [STOPPED, SPEAKS_PAST_DEADLINE, undefined]],
    ['where it is gone and no Node of it is Ready', true, [GONE, SILENT, undefined]],
    ['where it is gone and no Node of it is Ready, at the deadline', true, [GONE, SILENT_PAST_DEADLINE, undefined]],
    ['not where it is gone and a kubelet speaks', false, [GONE, SPEAKS, undefined]],
    ['where it is gone because we asked, although a kubelet speaks', true, [GONE, SPEAKS, ACCEPTED]],
    ['not where it is gone because we asked, and a kubelet speaks at the deadline', false, [GONE, SPEAKS_PAST_DEADLINE, ACCEPTED]], // prettier-ignore
    ['not while it goes, and nobody here has asked for that', false, [GOES, SILENT, undefined]],
    ['not while it goes, and our call may not have been made', false, [GOES, SILENT, INTENDED]],
    ['while it goes because we asked', true, [GOES, SPEAKS, ACCEPTED]],
    ['not while it goes because we asked, at the deadline', false, [GOES, SILENT_PAST_DEADLINE, ACCEPTED]],
    ['not where it runs', false, [HERE, SILENT, ACCEPTED]],
    ['not where EC2 may not know it yet', false, [TOO_YOUNG, SILENT, ACCEPTED]],
    ['not where EC2 refuses to look', false, [undefined, SILENT, ACCEPTED]],
  ])('%s: %s', (_, expected, given) => {
    expect(isMissing(...given)).toBe(expected);
  });
});

describe('the answer of EC2', () => {
  it.each<[string, boolean, Parameters<typeof needsAnswer>[0]]>([
    ['is waited for where no kubelet speaks', true, SILENT],
    ['is not waited for where a kubelet speaks', false, SPEAKS],
    ['is not waited for at the deadline', false, SILENT_PAST_DEADLINE],
  ])('%s', (_, expected, given) => {
    expect(needsAnswer(given)).toBe(expected);
  });
});

describe('an instance is ending', () => {
  it.each<[string, boolean, InstanceLook | undefined]>([
    ['where it is gone', true, GONE],
    ['where it goes', true, GOES],
    ['not where it is stopped', false, STOPPED],
    ['not where it runs', false, HERE],
    ['not where EC2 may not know it yet', false, TOO_YOUNG],
    ['not where EC2 refuses to look', false, undefined],
  ])('%s', (_, expected, look) => {
    expect(isEnding(look)).toBe(expected);
  });
});

describe('a Node is Ready', () => {
  const node = (type: string, status: string): KubernetesObject => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '2024-11-01T09:00:00Z' },
    status: { conditions: [{ type, status, lastTransitionTime: '2024-11-01T09:00:00Z' }] },
  });
  it.each<[string, boolean, readonly KubernetesObject[]]>([
    ['where one of them is', true, [node('Ready', 'Unknown'), node('Ready', 'True')]],
    ['not where none is', false, [node('Ready', 'False'), node('Ready', 'Unknown')]],
    ['not where another condition is True', false, [node('DiskPressure', 'True')]],
    ['not where there is no Node', false, []],
  ])('%s', (_, expected, nodes) => {
    expect(hasReadyNode(nodes)).toBe(expected);
  });
});
