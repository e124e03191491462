/** Answers as slurmrestd of Slurm 22.05.8 gave them, recorded with `curl`; those that it gives when something is wrong included. */
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readJobs, readNodes, type Answer } from '../../../examples/slurm-drain/bridge/answers.ts';

/** The status stands in the file's name. */
function recorded(file: string): Answer {
  const status = Number(/\.(\d{3})\.\w+$/.exec(file)?.[1]);
  return { status, body: readFileSync(new URL(`fixtures/${file}`, import.meta.url), 'utf8') };
}
const withErrors = (body: object): string => JSON.stringify({ errors: [], ...body });

describe('nodes', () => {
  it('are read with state, flags and reason', () => {
    const read = readNodes(recorded('nodes-mixed.200.json'));
    expect(read.kind === 'read' && [...read.value.values()]).toEqual([
      { name: 'n1', state: 'mixed', flags: ['DRAIN'], reason: 'curfew op=e1 node=k1: m', reasonSetBy: 'root' },
      { name: 'n2', state: 'idle', flags: ['COMPLETING', 'DRAIN'], reason: 'bad disk, ask Ann', reasonSetBy: 'root' },
      { name: 'n3', state: 'idle', flags: [], reason: '', reasonSetBy: '' },
    ]);
  });

  it.each([
    ['slurmctld is dead', recorded('nodes-slurmctld-dead.500.json'), 'HTTP 500: Unspecified error (-1)'],
    ['the token has expired', recorded('nodes-token-refused.500.json'), 'HTTP 500: Unspecified error (-1)'],
    ['there is no token', recorded('unauthenticated.401.txt'), 'HTTP 401: Authentication failure'],
    ['the list is empty', { status: 200, body: withErrors({ nodes: [] }) }, 'it names no node at all'],
    ['it has errors and nodes', { status: 200, body: '{"errors":[{"error":"x"}],"nodes":[{}]}' }, 'HTTP 200: x'],
    ['errors are missing', { status: 200, body: '{"nodes":[]}' }, 'another shape: errors'],
    ['the body is cut off', { status: 200, body: '{"errors":[],"nod' }, 'HTTP 200: {"errors"'],
    ['the path is not served', { status: 404, body: 'Unable find requested URL' }, 'HTTP 404: Unable find'],
    [
      'a newer Slurm answers',
      {
        status: 200,
        body: withErrors({
          nodes: [{ name: 'n1', state: ['IDLE', 'DRAIN'], state_flags: [], reason: '', reason_set_by_user: null }],
        }),
      },
      'another shape: nodes.0.state',
    ],
  ])('are unknown when %s', (_, answer, because) => {
    expect(readNodes(answer)).toEqual({ kind: 'unknown', because: expect.stringContaining(because) });
  });
});

describe('jobs', () => {
  it('are those that hold nodes', () => {
    expect(readJobs(recorded('jobs-running.200.json'))).toEqual({
      kind: 'read',
      value: [{ id: 1, user: 'root', state: 'RUNNING', nodes: ['n1'] }],
    });
    // One is still being ended; two pend, without an allocation.
    expect(readJobs(recorded('jobs-completing.200.json'))).toMatchObject({
      value: [
        { id: 1, state: 'RUNNING' },
        { id: 4, state: 'COMPLETING', nodes: ['n2'] },
      ],
    });
  });

  it('are unknown when slurmctld is dead, not none', () => {
    expect(readJobs(recorded('jobs-slurmctld-dead.500.json'))).toEqual({
      kind: 'unknown',
      because: 'HTTP 500: Failed while looking for jobs: Unspecified error (-1)',
    });
    // The command line answers the same with success.
    expect(readJobs({ ...recorded('jobs-slurmctld-dead.500.json'), status: 200 }).kind).toBe('unknown');
  });

  it('hold their nodes in a state that is not known, and are unknown without an allocation', () => {
    const job = { job_id: 9, job_state: 'STAGE_OUT', user_name: 'bob', nodes: 'n[1-2]' };
    const resources = { allocated_nodes: [{ nodename: 'n1' }, { nodename: 'n2' }] };
    const whole = { status: 200, body: withErrors({ jobs: [{ ...job, job_resources: resources }] }) };
    expect(readJobs(whole)).toMatchObject({ value: [{ id: 9, nodes: ['n1', 'n2'] }] });
    expect(readJobs({ status: 200, body: withErrors({ jobs: [job] }) }).kind).toBe('unknown');
  });
});

it('no answer makes a reader throw, and none with errors is read', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 599 }), fc.oneof(fc.string(), fc.json()), (status, body) => {
      for (const read of [readNodes, readJobs]) expect(['read', 'unknown']).toContain(read({ status, body }).kind);
    }),
  );
  const list = fc.array(fc.jsonValue(), { minLength: 1 });
  fc.assert(
    fc.property(list, list, (errors, items) => {
      const body = JSON.stringify({ errors, nodes: items, jobs: items });
      for (const read of [readNodes, readJobs]) expect(read({ status: 200, body }).kind).toBe('unknown');
    }),
  );
});
