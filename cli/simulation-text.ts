/** Selects the part of a run's text that is shown: `--only node=web-1`, `--no-writes`. */
import { readDay } from '../packages/timeline/src/day/day.ts';
import { readObjects } from '../packages/timeline/src/day/objects.ts';
import { whereabouts } from '../packages/timeline/src/day/who.ts';
import { suggestion } from '../shared/domain/nearest-name.ts';
import { traceOf } from '../simulator/checked-trace.ts';
import type { TextOptions } from '../simulator/report.ts';
import type { RunResult } from '../simulator/run.ts';
import { UsageError } from './usage-error.ts';

/** Names in `node=web-1,web-2`. Throws `UsageError`. */
export function parseOnly(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const names = /^node=(.+)$/.exec(text)?.[1]?.split(',').filter(Boolean) ?? [];
  if (names.length === 0) throw new UsageError(`--only takes node=NAME or node=NAME,NAME, not ${text}`);
  return names;
}

/** Throws `UsageError` for a node that the run does not have. */
export function textOptions(result: RunResult, names: readonly string[], hasWrites: boolean): TextOptions {
  const lines = traceOf(result);
  const objects = readObjects(lines);
  const day = readDay(lines, objects);
  const known = day.lanes.map(({ name }) => name);
  for (const name of names) {
    if (!known.includes(name)) throw new UsageError(`--only: the run has no node ${name}${suggestion(name, known)}`);
  }
  const only = new Set(names);
  const where = whereabouts(lines, objects, day.start);
  return {
    day,
    only,
    shows(index) {
      // Before the lines of the run stands the one that says what they are of.
      const line = lines[index + 1];
      if (line === undefined || (!hasWrites && (line.kind === 'write' || line.kind === 'actor'))) return false;
      return only.size === 0 || only.has(where.lifeOf(line)?.name ?? '');
    },
  };
}
