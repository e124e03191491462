/** A failing schedule as lines that a person can follow. */
import { describeAnswer, describeCall } from './describe-call.ts';
import type { Exploration, Failure } from './explore.ts';
import type { Happening } from './run-schedule.ts';
import { runsOf } from './situation.ts';

/** Lines of what came after the runs that are shown. */
const MAX_LATER_LINES = 40;

/** The shortest failing schedule, with what is wrong at its end. */
export function describeFailure({ situation }: Pick<Exploration, 'situation'>, { outcome, reasons }: Failure): string {
  const both = outcome.interleaved.map(describe);
  const later = outcome.later.filter(isOfInterest);
  const shown = later.slice(0, MAX_LATER_LINES).map(describe);
  const messages = runsOf(situation).map(run => `${run}: ${situation.messages[run]?.name}`);
  return [
    `${situation.concern}: ${situation.name}`,
    `  ${messages.join('; ')}`,
    ...both.map((line, index) => `  ${String(index + 1).padStart(3)}  ${line}`),
    ...(shown.length > 0 ? ['       then:'] : []),
    ...shown.map(line => `       ${line}`),
    ...(later.length > shown.length ? [`       … ${later.length - shown.length} more`] : []),
    ...reasons.map(reason => `  ${reason}`),
  ].join('\n');
}

/** A sweep asks each shard of the index. */
const isOfInterest = (happening: Happening): boolean =>
  happening.kind === 'change' || happening.call.port !== 'dueIndex';

function describe(happening: Happening): string {
  if (happening.kind === 'change') return `world: ${happening.change.name}`;
  const { call } = happening;
  const who = call.run ?? call.by;
  const died =
    call.died === undefined
      ? ''
      : call.died === 'before'
        ? ' → dies before it has an effect'
        : ' → dies before it has the answer';
  return `${who} ${describeCall(call)}${died === '' ? describeAnswer(call.answer, call.error) : died}`;
}
