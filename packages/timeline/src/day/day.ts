/** A trace, read as a day: lanes, what happened, strips, the verdict. */
import type { LineOf, TraceLine } from '../trace/lines.ts';
import { badgesOf } from './badges.ts';
import { ALWAYS_UNHEALTHY } from './conditions.ts';
import { happeningsOf } from './happenings.ts';
import { lanesOf } from './lanes.ts';
import { readObjects, type ObjectHistories } from './objects.ts';
import { conditionOf } from './repair.ts';
import { rowsOf } from './rows.ts';
import { stripsOf } from './strips.ts';
import type { Day } from './types.ts';
import { verdictOf } from './verdict.ts';
import { whereabouts } from './who.ts';

/** @param lines of one run, in order */
export function readDay(lines: readonly TraceLine[], objects: ObjectHistories = readObjects(lines)): Day {
  const header = lines.find((line): line is LineOf<'trace'> => line.kind === 'trace');
  const start = Date.parse(header?.start ?? lines.at(0)?.t ?? '');
  // What goes on ends with its last line.
  const last = lines.at(-1)?.t;
  const end = Date.parse((header?.source === 'live' ? last : header?.end) ?? last ?? '');
  const where = whereabouts(lines, objects, start);
  const lanes = lanesOf({ lines, objects, where, start, end, unhealthy: unhealthyIn(lines) });
  return {
    header: { name: header?.name ?? 'audit log', source: header?.source ?? 'audit', file: header?.file },
    start,
    end,
    lines,
    lanes,
    happenings: happeningsOf(lines, where, lanes),
    rows: rowsOf(lines, where, lanes),
    strips: stripsOf(lanes, lines, { start, end }),
    verdict: verdictOf(lanes, lines, { start, end }),
    badges: badgesOf(lanes, lines, end),
  };
}

/** Repair conditions that repair named, beside those that always count. */
function unhealthyIn(lines: readonly TraceLine[]): ReadonlySet<string> {
  const named = lines.flatMap(line =>
    line.kind === 'audit' && line.function === 'repair' ? [conditionOf(line.details)] : [],
  );
  return new Set([...ALWAYS_UNHEALTHY, ...named]);
}
