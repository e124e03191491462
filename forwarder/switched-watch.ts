import type { SwitchedWatch } from './node-pods.ts';
import { linkAbort, orAborted } from './inactivity.ts';
import type { WatchStatus } from './watch-status.ts';

/** A list-watch that starts empty each time it is switched on. `whole`: ends it in any case. */
export function createSwitchedWatch(
  create: (onStatus: (status: WatchStatus) => void) => { run(signal: AbortSignal): Promise<void> },
  whole: () => AbortSignal | undefined,
): SwitchedWatch {
  let current: { readonly end: AbortController; readonly known: Promise<void> } | undefined;

  return {
    start() {
      const parent = whole();
      if (current !== undefined || parent === undefined || parent.aborted) return;
      const { controller: end, unlink } = linkAbort(parent);
      let markKnown = (): void => undefined;
      const known = new Promise<void>(resolve => (markKnown = resolve));
      const watch = create(({ state }) => {
        if (state !== 'starting') markKnown();
      });
      void watch.run(end.signal).finally(unlink);
      current = { end, known };
    },
    stop() {
      current?.end.abort(new Error('switched off'));
      current = undefined;
    },
    known: signal => orAborted(current?.known ?? Promise.resolve(), signal),
  };
}
