/** The bridge as a process: a pass at each change of a request and at each tick, one after the other. */
import { WatchExpired, type ClusterWatch } from '../../../shared/ports/cluster-watch.ts';
import { messageOf } from '../../../shared/errors.ts';
import { runPass, type PassDeps } from './pass.ts';
import { REQUESTS } from './request.ts';

export interface LoopDeps extends PassDeps {
  readonly watch: ClusterWatch;
  /** Time between two passes at most, in milliseconds; also the pause after a watch that broke. */
  readonly period: number;
}

/** Runs until `signal` aborts. */
export async function runLoop(deps: LoopDeps, signal: AbortSignal): Promise<void> {
  let wake = Promise.withResolvers<void>();
  const watching = watchRequests(deps, () => wake.resolve(), signal);
  while (!signal.aborted) {
    // What changes during the pass wakes the next one.
    wake = Promise.withResolvers<void>();
    try {
      await runPass(deps);
    } catch (error) {
      deps.log('pass failed', { error: messageOf(error) });
    }
    await Promise.race([wake.promise, sleep(deps.period, signal)]);
  }
  await watching;
}

/** From now on: a pass looks at everything, so no list is needed, and a gap costs one period. */
async function watchRequests({ watch, namespace, period, log }: LoopDeps, changed: () => void, signal: AbortSignal) {
  while (!signal.aborted) {
    try {
      const page = await watch.list(REQUESTS, { selection: { namespace }, limit: 1, signal });
      if (page.kind === 'page') {
        changed();
        const { resourceVersion } = page;
        for await (const event of watch.watch(REQUESTS, {
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
