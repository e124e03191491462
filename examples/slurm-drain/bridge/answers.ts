/** What slurmrestd of Slurm 22.05 (`openapi/v0.0.38`) answers, read strictly: an answer of another shape is unknown, too. Pure. */
import { z } from 'zod';
import type { Read, SlurmJob, SlurmNode } from './slurm.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

const failure = z.looseObject({
  error: z.string().optional(),
  description: z.string().optional(),
  // Slurm 22.05 has both names.
  errno: z.number().optional(),
  error_number: z.number().optional(),
});
/** Without `errors` it is no answer of slurmrestd. */
const frame = z.looseObject({ errors: z.array(failure) });

const nodes = z.looseObject({
  nodes: z.array(
    z.looseObject({
      name: z.string().min(1),
      state: z.string(),
      state_flags: z.array(z.string()),
      reason: z.string(),
      reason_set_by_user: z.string().nullable(),
    }),
  ),
});

const jobs = z.looseObject({
  jobs: z.array(
    z.looseObject({
      job_id: z.number(),
      job_state: z.string(),
      user_name: z.string(),
      /** A packed list, `n[1,3]`; empty while the job holds none. */
      nodes: z.string(),
      /** Missing before the job has ever held a node. */
      job_resources: z
        .looseObject({ allocated_nodes: z.array(z.looseObject({ nodename: z.string() })).optional() })
        .optional(),
    }),
  ),
});

/** States in which a job holds no node; any other one, a new one included, holds it. */
const FREE = new Set([
  'PENDING',
  'COMPLETED',
  'CANCELLED',
  'FAILED',
  'TIMEOUT',
  'NODE_FAIL',
  'PREEMPTED',
  'BOOT_FAIL',
  'DEADLINE',
  'OUT_OF_MEMORY',
]);

/** All nodes by name. */
export function readNodes(answer: Answer): Read<ReadonlyMap<string, SlurmNode>> {
  const read = parse(answer, nodes);
  if (read.kind === 'unknown') return read;
  // No cluster is without nodes: slurmctld has not read its configuration, or the answer is not whole.
  if (read.value.nodes.length === 0) return unknown('it names no node at all');
  const entries = read.value.nodes.map(
    ({ name, state, state_flags: flags, reason, reason_set_by_user: setBy }): [string, SlurmNode] => [
      name,
      { name, state, flags, reason, reasonSetBy: setBy ?? '' },
    ],
  );
  return { kind: 'read', value: new Map(entries) };
}

/** Those that hold nodes. */
export function readJobs(answer: Answer): Read<readonly SlurmJob[]> {
  const read = parse(answer, jobs);
  if (read.kind === 'unknown') return read;
  const holding = read.value.jobs.filter(({ job_state: state }) => !FREE.has(state));
  const found: SlurmJob[] = [];
  for (const { job_id: id, job_state: state, user_name: user, nodes: packed, job_resources: resources } of holding) {
    const names = (resources?.allocated_nodes ?? []).map(({ nodename }) => nodename);
    if (names.length === 0 && packed !== '')
      return unknown(`job ${id} is ${state} on ${packed}, and no allocation says so`);
    found.push({ id, user, state, nodes: names });
  }
  return { kind: 'read', value: found };
}

function parse<T>({ status, body }: Answer, schema: z.ZodType<T>): Read<T> {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return unknown(`HTTP ${status}: ${body.trim().slice(0, 100)}`);
  }
  const framed = frame.safeParse(json);
  const [error] = framed.success ? framed.data.errors : [];
  if (error !== undefined) {
    const number = error.errno ?? error.error_number;
    const text = [error.description, error.error].filter(each => each !== undefined).join(': ');
    return unknown(`HTTP ${status}: ${text}${number === undefined ? '' : ` (${number})`}`);
  }
  if (status !== 200) return unknown(`HTTP ${status}`);
  const parsed = schema.safeParse(json);
  if (!framed.success || !parsed.success) {
    const [issue] = (framed.error ?? parsed.error)?.issues ?? [];
    return unknown(`its answer has another shape: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  }
  return { kind: 'read', value: parsed.data };
}

const unknown = (because: string): { kind: 'unknown'; because: string } => ({ kind: 'unknown', because });
