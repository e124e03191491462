/** Which files some work enters, counted by V8 itself: a file is entered when one of its functions runs. */
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './sources.ts';

/** The files of the product of which some function runs while `work` does. */
export async function enteredBy(work: () => Promise<unknown>): Promise<readonly string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage');
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ functions }) =>
        functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
      )
      .flatMap(({ url }) => (url.startsWith('file:') ? [relative(root, fileURLToPath(url))] : []))
      .filter(file => /^(forwarder|functions|shared)\//.test(file))
      .toSorted();
  } finally {
    session.disconnect();
  }
}
