/** A run's trace, checked by its schema: for its verdict, its lanes and its page. */
import { traceLine, type TraceLine } from '../packages/timeline/src/trace/lines.ts';
import type { RunResult } from './run.ts';
import { linesOf } from './trace-lines.ts';

/** Of a run that recorded its objects (`RunOptions.recordsObjects`). */
export const traceOf = (result: RunResult): readonly TraceLine[] =>
  linesOf(result).map(line => traceLine.parse(withoutMissing(line)));

/** As it is printed: JSON leaves out what is undefined. */
const withoutMissing = (line: unknown): unknown => JSON.parse(JSON.stringify(line));
