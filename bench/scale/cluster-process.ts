/** The cluster of the scale bench in a process of its own: nodes fall ill together, and it notes when each NodeClaim's deletion is accepted. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { answerQuestions } from '../measure/answering.ts';
import { startPoolCluster, type PoolCluster } from './cluster.ts';
import { nameOf } from './objects.ts';

const startSchema = z.object({ nodes: z.number(), tolerationSeconds: z.number() });
const groupSchema = z.object({ first: z.number(), count: z.number() });
const breakSchema = z.object({ ...groupSchema.shape, leadMs: z.number(), giveUpMs: z.number() });

const POLL_MS = 5;

let cluster: PoolCluster | undefined;
let tolerationMs = 0;
/** When each NodeClaim's deletion was accepted. */
const deletions = new Map<string, number>();
let repairRequests = 0;

answerQuestions({
  async start(argument) {
    const { nodes, tolerationSeconds } = startSchema.parse(argument);
    tolerationMs = tolerationSeconds * 1000;
    cluster = await startPoolCluster({ toleration: `${tolerationSeconds}s`, maxUnhealthy: '100%' }, ({ user }) => {
      if (user === 'curfew-repair') repairRequests += 1;
    });
    for (let index = 0; index < nodes; index += 1) cluster.add(index);
    cluster.core.observe(({ verb, resource, ref, user }) => {
      if (verb !== 'delete' || resource.kind !== 'NodeClaim' || user === 'bench') return;
      if (!deletions.has(ref.name)) deletions.set(ref.name, systemClock.now());
    });
    return { url: cluster.url, kubeconfig: cluster.kubeconfig() };
  },

  prepare(argument) {
    for (const index of indexes(argument)) started().add(index);
  },

  /** Breaks them. Answers how long after they were due each deletion was accepted; the missing ones are left out. */
  async break(argument) {
    const { leadMs, giveUpMs } = breakSchema.parse(argument);
    const group = indexes(argument);
    // As a status has it: in whole seconds.
    const dueTime = Math.ceil((systemClock.now() + leadMs) / 1000) * 1000;
    for (const index of group) started().breakNode(index, toEpochMs(dueTime - tolerationMs));
    const broken = systemClock.now();
    const isDeleted = (index: number): boolean => deletions.has(nameOf(index));
    while (systemClock.now() < dueTime) await sleep(POLL_MS);
    const requestsBefore = repairRequests;
    while (!group.every(isDeleted) && systemClock.now() < dueTime + giveUpMs) await sleep(POLL_MS);
    const lateness = group.flatMap(index => {
      const time = deletions.get(nameOf(index));
      return time === undefined ? [] : [time - dueTime];
    });
    return { lateness, requests: repairRequests - requestsBefore, leftMs: dueTime - broken };
  },

  clear(argument) {
    for (const index of indexes(argument)) started().remove(index);
  },

  /** Requests of the repair function so far. */
  requests: () => repairRequests,
});

function indexes(argument: unknown): readonly number[] {
  const { first, count } = groupSchema.parse(argument);
  return Array.from({ length: count }, (_, index) => first + index);
}

function started(): PoolCluster {
  invariant(cluster !== undefined, 'the cluster is started first');
  return cluster;
}
