/** What the contract of an API server is run against, and the requests that most cases make. */
import { expect } from 'vitest';
import type { DifferenceId } from '../differences.ts';
import { PATCH, type Answer, type HttpClient } from './http-client.ts';

export interface ApiServerSubject {
  readonly http: HttpClient;
  /** A namespace of this case alone. */
  readonly namespace: string;
  /** 36 of Kubernetes 1.36: what it is, or what it is made after. */
  readonly minor: number;
  /** Makes the versions before now too old to watch from. Absent: those from before the server's start are. */
  readonly compact?: () => void;
  /** Makes the server send bookmarks now. Absent: it does so by itself before a watch times out. */
  readonly sendBookmarks?: () => void;
  /** Lets time pass for the server. Absent: it passes by itself. */
  readonly passSeconds?: (count: number) => Promise<void>;
  /** What this server answers where the two are known to differ. */
  readonly differing: <Value>(id: DifferenceId, answers: { readonly real: Value; readonly embedded: Value }) => Value;
}

export type MakeSubject = () => Promise<ApiServerSubject>;

/** A real control plane answers some things a moment later. */
export const EVENTUALLY = { timeout: 15_000, interval: 50 };
export const OTHER_UID = '00000000-0000-0000-0000-000000000000';

/** Collection of a core resource in the namespace of the case. */
export const inNamespace = ({ namespace }: ApiServerSubject, resource: string, name?: string): string =>
  `/api/v1/namespaces/${namespace}/${resource}${name === undefined ? '' : `/${name}`}`;

export const configMaps = (subject: ApiServerSubject, name?: string): string =>
  inNamespace(subject, 'configmaps', name);

export const aConfigMap = (name: string, data?: object, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...(data && { data }),
});

/** Creates what a case needs; a refusal is the case's failure. */
export async function created({ http }: ApiServerSubject, path: string, body: object): Promise<unknown> {
  const answer = await http.call('POST', path, { body });
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 201 });
  return answer.body;
}

export async function read({ http }: ApiServerSubject, path: string): Promise<unknown> {
  const answer = await http.call('GET', path);
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 });
  return answer.body;
}

export function patch(
  { http }: ApiServerSubject,
  path: string,
  type: keyof typeof PATCH,
  body: unknown,
  query: Readonly<Record<string, string | boolean>> = {},
): Promise<Answer> {
  return http.call('PATCH', path, { body, query, type: PATCH[type] });
}

/** A pod on a node without a kubelet: it stays until somebody deletes it without grace. */
export async function runningPod(
  subject: ApiServerSubject,
  name: string,
  { labels = {}, finalizers = [] }: { labels?: object; finalizers?: readonly string[] } = {},
): Promise<unknown> {
  await created(subject, inNamespace(subject, 'pods'), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels, finalizers },
    spec: {
      nodeName: 'nowhere',
      terminationGracePeriodSeconds: 30,
      containers: [{ name: 'main', image: 'registry.example.com/main:1' }],
    },
  });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const answer = await patch(subject, `${inNamespace(subject, 'pods', name)}/status`, 'merge', { status });
  expect(answer.status).toBe(200);
  return answer.body;
}

/** What stands at a dotted path of an answer; undefined where nothing does. */
export function at(body: unknown, path: string): unknown {
  let value = body;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/** The text at a dotted path; its absence is the case's failure. */
export function textAt(body: unknown, path: string): string {
  const value = at(body, path);
  if (typeof value !== 'string') throw new Error(`no text at ${path} of ${JSON.stringify(body)}`);
  return value;
}

/** The elements at a dotted path; none where there is nothing. */
export function listAt(body: unknown, path: string): readonly unknown[] {
  const value = at(body, path);
  return Array.isArray(value) ? value : [];
}

/** The names of a list's items, sorted. */
export const namesIn = (list: unknown): readonly string[] =>
  listAt(list, 'items')
    .map(item => textAt(item, 'metadata.name'))
    .toSorted();
