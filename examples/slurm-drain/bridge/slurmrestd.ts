/** Reads Slurm from slurmrestd, over a Unix socket or HTTP. Its keep-alive must be on: with `Connection: close` it sends a broken end. */
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { messageOf } from '../../../shared/errors.ts';
import { readJobs, readNodes, type Answer } from './answers.ts';
import type { Read, Slurm } from './slurm.ts';

/** Longer than slurmrestd waits for slurmctld (`MessageTimeout`, 10 s by default). */
const TIMEOUT_MS = 15_000;
const API = '/slurm/v0.0.38';

export interface SlurmrestdOptions {
  /** `unix:/run/slurmrestd.sock` or `http://host:6820`. */
  readonly url: string;
  readonly user: string;
  /** A JWT of `scontrol token`, read for each request: it expires, and its maker renews it. */
  readonly token: () => Promise<string>;
}

export interface Slurmrestd extends Pick<Slurm, 'look' | 'nodes'> {
  close(): void;
}

/** Never rejects: no answer, a time-out and an answer that cannot be read are unknown, with the reason. */
export function createSlurmrestd({ url, user, token }: SlurmrestdOptions): Slurmrestd {
  const agent = new http.Agent({ keepAlive: true });
  const target = url.startsWith('unix:') ? { socketPath: url.slice('unix:'.length) } : toHost(new URL(url));

  async function get(path: string): Promise<Answer> {
    const headers = { 'X-SLURM-USER-NAME': user, 'X-SLURM-USER-TOKEN': await token() };
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    http.get({ ...target, path: API + path, agent, headers, signal }, resolve).on('error', reject);
    const message = await promise;
    return { status: message.statusCode ?? 0, body: await text(message) };
  }

  async function read<T>(what: string, path: string, parse: (answer: Answer) => Read<T>): Promise<Read<T>> {
    try {
      const answer = parse(await get(path));
      return answer.kind === 'read' ? answer : { ...answer, because: `${what}: ${answer.because}` };
    } catch (error) {
      return { kind: 'unknown', because: `${what}: ${messageOf(error)}` };
    }
  }

  const readAllNodes: Slurm['nodes'] = () => read('reading nodes', '/nodes', readNodes);

  return {
    nodes: readAllNodes,
    async look() {
      const nodes = await readAllNodes();
      if (nodes.kind === 'unknown') return nodes;
      const jobs = await read('reading jobs', '/jobs', readJobs);
      return jobs.kind === 'unknown' ? jobs : { kind: 'seen', nodes: nodes.value, jobs: jobs.value };
    },
    close: () => agent.destroy(),
  };
}

const toHost = ({ hostname, port }: URL): http.RequestOptions => ({ host: hostname, port: port === '' ? 80 : port });
