/** A run as a day, for its verdict, its lanes and its page. The trace is checked by its schema on the way. */
import { readDay } from '../packages/timeline/src/day/day.ts';
import type { Day } from '../packages/timeline/src/day/types.ts';
import { traceLine } from '../packages/timeline/src/trace/lines.ts';
import type { RunResult } from './run.ts';
import { linesOf } from './trace-lines.ts';

/** Of a run that recorded its objects (`RunOptions.recordsObjects`). */
export const dayOf = (result: RunResult): Day =>
  readDay(linesOf(result).map(line => traceLine.parse(withoutMissing(line))));

/** As it is printed: JSON leaves out what is undefined. */
const withoutMissing = (line: unknown): unknown => JSON.parse(JSON.stringify(line));
