/** A controller as a process: a pass at each change of its custom resources and at each tick, one after the other. */
import type { ResourceType } from '../shared/domain/kubernetes-object.ts';
import { messageOf } from '../shared/errors.ts';
import { WatchExpired, type ClusterWatch } from '../shared/ports/cluster-watch.ts';

export interface LoopDeps {
  readonly watch: ClusterWatch;
  /** What wakes it, and where that is. */
  readonly type: ResourceType;
  readonly namespace: string;
  /** Looks at everything; a rejection is logged, and the next pass comes as ever. */
  readonly pass: () => Promise<void>;
  /** Time between two passes at most, in milliseconds; also the pause after a watch that broke. */
  readonly period: number;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Runs until `signal` aborts. */
export async function runLoop(deps: LoopDeps, signal: AbortSignal): Promise<void> {
  let wake = Promise.withResolvers<void>();
  const watching = watchForChanges(deps, () => wake.resolve(), signal);
  while (!signal.aborted) {
    // What changes during the pass wakes the next one.
    wake = Promise.withResolvers<void>();
    try {
      await deps.pass();
    } catch (error) {
      deps.log('pass failed', { error: messageOf(error) });
    }
    await Promise.race([wake.promise, sleep(deps.period, signal)]);
  }
  await watching;
}

/** From now on: a pass looks at everything, so no list is needed, and a gap costs one period. */
async function watchForChanges(
  { watch, type, namespace, period, log }: LoopDeps,
  changed: () => void,
  signal: AbortSignal,
) {
  while (!signal.aborted) {
    try {
      const page = await watch.list(type, { selection: { namespace }, limit: 1, signal });
      if (page.kind === 'page') {
        changed();
        const { resourceVersion } = page;
        for await (const event of watch.watch(type, {
          selection: { namespace },
          resourceVersion,
          timeoutSeconds: 300,
          signal,
        })) {
          if (event.type !== 'BOOKMARK') changed();
        }
        continue;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof WatchExpired)) log('watch broke', { error: messageOf(error) });
    }
    await sleep(period, signal);
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) return Promise.resolve();
  const timer = setTimeout(done, ms);
  signal.addEventListener('abort', done);
  function done(): void {
    clearTimeout(timer);
    signal.removeEventListener('abort', done);
    resolve();
  }
  return promise;
}
