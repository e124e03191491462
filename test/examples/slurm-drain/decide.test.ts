import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideRequest,
  decideResume,
  orphansOf,
  type RequestDecision,
} from '../../../examples/slurm-drain/bridge/decide.ts';
import type { DrainRequest } from '../../../examples/slurm-drain/bridge/request.ts';
import {
  formatReason,
  parseReason,
  type SlurmJob,
  type SlurmNode,
  type SlurmView,
} from '../../../examples/slurm-drain/bridge/slurm.ts';
import { aJob, aNode, aRequest, FOREIGN, OURS, OWNER, seen } from './builders.ts';
import { anyText } from '../../builders/any-text.ts';

const decide = (slurm: SlurmView, request = aRequest(), ...others: string[]): RequestDecision =>
  decideRequest({ request, open: new Set([request.name, ...others]), slurm, owner: OWNER });
const ours = (change: Partial<SlurmNode> = {}) =>
  aNode({ flags: ['DRAIN'], reason: OURS, reasonSetBy: 'root', ...change });
const foreign = (change: Partial<SlurmNode> = {}) => ours({ reason: FOREIGN, ...change });

describe('a request', () => {
  it('drains its node with a reason that carries the operation', () => {
    expect(decide(seen([aNode()]))).toEqual({ kind: 'drain', node: aNode(), reason: OURS });
  });

  it.each<[string, SlurmNode, SlurmJob[], object]>([
    [
      'a job runs',
      ours({ state: 'mixed' }),
      [aJob()],
      { jobs: 1, reason: 'JobsRunning', inProgress: 'True', message: '1 job is on n1: 7 (alice, RUNNING)' },
    ],
    [
      'a job is being ended',
      ours({ flags: ['COMPLETING', 'DRAIN'] }),
      [aJob({ state: 'COMPLETING' })],
      { jobs: 1, complete: false },
    ],
    [
      'the list of jobs is short',
      ours({ flags: ['COMPLETING', 'DRAIN'] }),
      [],
      { reason: 'NodeNotIdle', complete: false },
    ],
    [
      'slurmctld has just started',
      ours({ state: 'unknown' }),
      [],
      {
        reason: 'NodeNotIdle',
        complete: false,
        message: 'no job is left on n1, and Slurm is not done with it: unknown DRAIN',
      },
    ],
    [
      'jobs are elsewhere',
      ours(),
      [aJob({ nodes: ['n2', 'n11'] })],
      { jobs: 0, complete: true, inProgress: 'False', reason: 'AllJobsCompleted' },
    ],
    ['the node is down', ours({ state: 'down' }), [], { complete: true, reason: 'NodeDown' }],
    [
      'the node is down, and Slurm has said so',
      aNode({ state: 'down', flags: ['NOT_RESPONDING'], reason: 'Not responding', reasonSetBy: 'slurm' }),
      [],
      {
        complete: true,
        reason: 'NodeDown',
        message: 'n1 is down, and no job is left on it; the drain is not ours: "Not responding" (slurm)',
      },
    ],
    [
      'somebody else drains it',
      foreign({ state: 'mixed' }),
      [aJob()],
      {
        complete: false,
        message: '1 job is on n1: 7 (alice, RUNNING); the drain is not ours: "bad disk, ask Ann" (root)',
      },
    ],
    [
      'somebody else has drained it',
      foreign(),
      [],
      {
        complete: true,
        message: 'n1 is drained, and no job is left on it; the drain is not ours: "bad disk, ask Ann" (root)',
      },
    ],
    [
      'a reason stands there without a drain',
      aNode({ reason: FOREIGN, reasonSetBy: 'ann' }),
      [],
      { complete: false, inProgress: 'False', reason: 'ForeignReason' },
    ],
  ])('reports when %s', (_, node, jobs, progress) => {
    expect(decide(seen([node], jobs))).toMatchObject({ kind: 'report', progress });
  });

  it('waits for what it cannot see', () => {
    expect(decide({ kind: 'unknown', because: 'HTTP 500' })).toEqual({
      kind: 'report',
      progress: {
        slurmNodeName: undefined,
        jobs: undefined,
        inProgress: 'Unknown',
        complete: false,
        reason: 'SlurmUnknown',
        message: 'Slurm cannot be asked: HTTP 500',
      },
    });
    expect(decide(seen([aNode({ name: 'n2' })]))).toMatchObject({
      progress: { inProgress: 'Unknown', reason: 'NodeUnknown' },
    });
  });

  it('finds the node by its own name, by its first label, or by the one that it is told', () => {
    const request = aRequest({ nodeName: 'ip-1.example.internal' });
    const drained = (node: string, change: Partial<DrainRequest> = {}) =>
      decide(seen([aNode({ name: node })]), { ...request, ...change });
    expect(drained('ip-1.example.internal').kind).toBe('drain');
    expect(drained('ip-1').kind).toBe('drain');
    expect(drained('gpu7', { slurmNodeName: 'gpu7' }).kind).toBe('drain');
    expect(drained('ip-1', { slurmNodeName: 'gpu7' })).toMatchObject({ progress: { reason: 'NodeUnknown' } });
  });

  it('takes over a drain of ours that is over, and leaves one that is not', () => {
    const second = aRequest({ name: 'drain-n1-e2' });
    expect(decide(seen([ours()]), second)).toMatchObject({
      kind: 'drain',
      reason: expect.stringContaining('op=drain-n1-e2 '),
    });
    expect(decide(seen([ours()]), second, 'drain-n1-e1')).toMatchObject({
      kind: 'report',
      progress: { complete: true },
    });
  });

  it('is left alone once it is settled', () => {
    expect(decide(seen([aNode()]), aRequest({ settled: true }))).toEqual({ kind: 'nothing' });
  });
});

describe('a drain of ours that nobody asks for', () => {
  const resume = (held: boolean | undefined, requests: readonly DrainRequest[] = []) =>
    decideResume({ node: ours(), requests, clusterNode: held === undefined ? undefined : { held } });
  it('ends when the Kubernetes Node takes pods again, and not before', () => {
    expect(resume(false)).toBe('resume');
    expect(resume(true)).toBe('keep');
    expect(resume(undefined)).toBe('keep');
    expect(resume(false, [aRequest({ name: 'drain-n1-e2', settled: true })])).toBe('keep');
  });
  it('is known by its reason alone', () => {
    const view = seen([ours(), foreign({ name: 'n2' }), aNode({ name: 'n3', reason: OURS })]);
    expect(orphansOf(view, [], OWNER)).toEqual([{ node: ours(), nodeName: 'n1' }]);
    expect(orphansOf(view, [aRequest()], OWNER)).toEqual([]);
    expect(orphansOf(view, [], 'other')).toEqual([]);
    expect(orphansOf({ kind: 'unknown', because: 'x' }, [], OWNER)).toEqual([]);
  });
});

describe('a reason', () => {
  it('is read as it was written, whatever the text', () => {
    const name = fc.constantFrom('n1', 'drain-n1-e1', 'ip-10-0-1-2.us-west-2.compute.internal');
    fc.assert(
      fc.property(name, name, anyText({ maxLength: 500 }), (operation, nodeName, text) => {
        const reason = formatReason(OWNER, { operation, nodeName }, text);
        expect(parseReason(OWNER, reason)).toEqual({ operation, nodeName });
        expect(reason).not.toMatch(/[\n\r\t\0]/);
        expect(reason.length).toBeLessThan(400);
        expect(parseReason('curfe', reason)).toBeUndefined();
      }),
    );
  });
  it.each([
    '',
    FOREIGN,
    'curfew',
    'curfew op=x',
    'curfewop=x node=y: z',
    ' curfew op=x node=y: z',
    'curfew op= node=y: z',
  ])('%j is not ours', reason => expect(parseReason(OWNER, reason)).toBeUndefined());
});

describe('for every state of Slurm', () => {
  const reasons = fc.constantFrom('', FOREIGN, OURS, 'curfew op=drain-n1-e0 node=n1: older');
  const node = fc.record({
    name: fc.constantFrom('n1', 'n2'),
    state: fc.constantFrom('idle', 'mixed', 'allocated', 'down', 'unknown', 'error', 'future', 'reserved'),
    flags: fc.subarray(['DRAIN', 'COMPLETING', 'NOT_RESPONDING', 'MAINTENANCE']),
    reason: reasons,
    reasonSetBy: fc.constantFrom('', 'root'),
  });
  const job = fc.record({
    id: fc.nat(),
    user: fc.constant('alice'),
    state: fc.constantFrom('RUNNING', 'COMPLETING', 'SUSPENDED', 'NEW_STATE'),
    nodes: fc.subarray(['n1', 'n2']),
  });
  const situation = fc.record({ nodes: fc.array(node, { maxLength: 3 }), jobs: fc.array(job, { maxLength: 3 }) });
  it('a foreign reason is never written over, and nothing is complete with a job, without a drain, or unseen', () => {
    fc.assert(
      fc.property(situation, ({ nodes, jobs }) => {
        const view = seen(nodes, jobs);
        const n1 = view.kind === 'seen' ? view.nodes.get('n1') : undefined;
        const decision = decide(view);
        if (decision.kind === 'drain') expect(decision.node.reason).not.toBe(FOREIGN);
        if (decision.kind !== 'report' || !decision.progress.complete) return;
        expect(jobs.filter(each => each.nodes.includes('n1'))).toEqual([]);
        expect(n1?.state === 'down' || n1?.flags.includes('DRAIN')).toBe(true);
        expect(n1?.flags).not.toContain('COMPLETING');
      }),
      { numRuns: 2000 },
    );
  });
});
