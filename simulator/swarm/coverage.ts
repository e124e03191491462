/** Which parts of Curfew's code a run reaches: V8's coverage by block, of the files that are deployed. */
import { Session } from 'node:inspector/promises';

/** Folders of the product; what only the simulation runs does not count. */
const PRODUCT = /\/(functions|shared|forwarder)\/.+\.ts$/;

export interface Coverage {
  /** The blocks that have run since the last call and never before it, as `PATH:START-END` by characters. */
  takeNew(): Promise<readonly string[]>;
}

/** Counts from now on, in this thread. Code runs somewhat slower from then on. */
export async function startCoverage(): Promise<Coverage> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const known = new Set<string>();
  return {
    async takeNew() {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const fresh: string[] = [];
      for (const { url, functions } of result) {
        const path = PRODUCT.exec(url)?.[0];
        if (path === undefined) continue;
        for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) {
          const block = `${path}:${startOffset}-${endOffset}`;
          if (count === 0 || known.has(block)) continue;
          known.add(block);
          fresh.push(block);
        }
      }
      return fresh;
    },
  };
}
