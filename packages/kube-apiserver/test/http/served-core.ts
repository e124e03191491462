/** A core with a CRD and some objects, served over HTTP, for the tests of this folder. */
import { createApiServer } from '../../src/api-server.ts';
import { serveApiServer, type RequestLogEntry, type ServedApi, type ServeOptions } from '../../src/http/server.ts';
import type { Timers } from '../../src/http/timers.ts';
import type { ApiServerCore } from '../../src/types.ts';

export const startOfTime = Date.parse('2026-01-01T00:00:00Z');

/** Timers that run when a test says so. */
export interface ManualTimers extends Timers {
  /** Runs what was scheduled to run once. */
  expire(): void;
  /** Runs what was scheduled to run again and again, one more time. */
  tick(): void;
  /** Settles when nothing is scheduled to run once. */
  idle(): Promise<void>;
  /** Scheduled and not cancelled. */
  readonly pending: number;
}

function manualTimers(): ManualTimers {
  const once = new Set<() => void>();
  const periodic = new Set<() => void>();
  const waiting = new Set<() => void>();
  const remove = (set: Set<() => void>, run: () => void): void => {
    set.delete(run);
    if (once.size === 0) for (const settle of waiting) settle();
  };
  const add = (set: Set<() => void>, run: () => void) => {
    set.add(run);
    return { cancel: () => remove(set, run) };
  };
  return {
    after: (_delayMs, run) => add(once, run),
    every: (_periodMs, run) => add(periodic, run),
    expire() {
      for (const run of once) {
        remove(once, run);
        run();
      }
    },
    tick() {
      for (const run of periodic) run();
    },
    async idle() {
      if (once.size > 0) await new Promise<void>(resolve => waiting.add(resolve));
    },
    get pending() {
      return once.size;
    },
  };
}

export const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'], categories: ['toys'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'Widget is a thing for tests.',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', minimum: 1, description: 'How large it is.' },
                  color: { type: 'string' },
                },
              },
              status: {
                type: 'object',
                properties: {
                  conditions: {
                    type: 'array',
                    items: {
                      type: 'object',
                      properties: { type: { type: 'string' }, status: { type: 'string' } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
} as const;

export interface Served {
  readonly core: ApiServerCore;
  readonly api: ServedApi;
  readonly timers: ManualTimers;
  readonly log: RequestLogEntry[];
  /** Moves the clock, in milliseconds. */
  advance(ms: number): void;
  /** A request; `body` is sent as JSON unless it is text. */
  call(method: string, path: string, options?: CallOptions): Promise<Response>;
  json(path: string, headers?: Record<string, string>): Promise<unknown>;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Starts a server with node `n1`, pods `web-0` and `web-1` in namespace `prod`, and the Widget CRD. */
export async function serveTestCore(options: Pick<ServeOptions, 'maxUnsentBytes' | 'tls'> = {}): Promise<Served> {
  let now = startOfTime;
  const core = createApiServer({ clock: { now: () => now } });
  core.seed(widgetDefinition);
  core.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'prod' }, status: { phase: 'Active' } });
  core.seed({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', labels: { zone: 'a' } },
    status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1.36.0' } },
  });
  for (const name of ['web-0', 'web-1']) {
    core.seed({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'prod', labels: { app: 'web' } },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }
  const timers = manualTimers();
  const log: RequestLogEntry[] = [];
  const api = await serveApiServer(core, { now: () => now, timers, log: entry => log.push(entry), ...options });
  const call = async (method: string, path: string, { body, type, headers, signal }: CallOptions = {}) =>
    await fetch(api.url + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  return {
    core,
    api,
    timers,
    log,
    call,
    advance(ms) {
      now += ms;
    },
    async json(path, headers = {}) {
      const value: unknown = await (await call('GET', path, { headers })).json();
      return value;
    },
  };
}
