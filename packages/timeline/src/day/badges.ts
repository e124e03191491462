/** Surprises only: red wants a person, amber wants a look. */
import type { LineOf, TraceLine } from '../trace/lines.ts';
import { clockText, spanText } from './text.ts';
import type { Badge, Lane } from './types.ts';

/** So many illnesses within an hour are flapping. */
const FLAPS = 3;
const HOUR = 3_600_000;
const LONG = 4 * HOUR;

export function badgesOf(lanes: readonly Lane[], lines: readonly TraceLine[], end: number): readonly Badge[] {
  const badges = [
    ...lanes.flatMap(lane => [...endless(lane, end), ...hooksOf(lane), ...flapping(lane), ...takenOf(lane)]),
    ...unawaited(lanes),
    ...stuck(lines),
    ...buried(lines),
    ...failed(lines),
  ];
  return badges.toSorted((a, b) => Number(a.severity === 'amber') - Number(b.severity === 'amber') || a.time - b.time);
}

/** A drain or termination that is under way at the end, and has been for long. */
function endless({ name, drains, waits, bars }: Lane, end: number): readonly Badge[] {
  const why = (by: 'drain' | 'termination'): string => {
    const said = waits.filter(wait => wait.by === by && wait.reason !== 'AwaitingPodCompletion');
    const [wait] = said.toSorted((a, b) => b.to - b.from - (a.to - a.from));
    return wait === undefined ? '' : `, ${wait.isBudget ? 'a PodDisruptionBudget forbids it' : shortened(wait.detail)}`;
  };
  const runs = [
    ...drains
      .filter(({ isOpen }) => isOpen)
      .map(({ from }) => ({ from, title: 'Drain without end', by: 'drain' as const })),
    ...bars
      .filter(({ kind, isOpen }) => kind === 'termination' && isOpen)
      .map(({ from }) => ({ from, title: 'Termination without end', by: 'termination' as const })),
  ];
  return runs
    .filter(({ from }) => end - from >= LONG)
    .map(({ from, title, by }) => ({
      severity: 'red',
      title,
      detail: `${name}, ${spanText(end - from)} so far${why(by)}`,
      nodes: [name],
      time: from,
    }));
}

/** A badge has room for the fact, and the panel for what belongs to it. */
function shortened(text: string): string {
  const [fact = ''] = text.split(/: |; |, since /);
  return fact.length > 60 ? `${fact.slice(0, 58)}…` : fact;
}

function hooksOf({ name, hooks, skippedHooks, end }: Lane): readonly Badge[] {
  return [
    ...skippedHooks.map(hook => ({
      severity: 'red' as const,
      title: 'Hook skipped',
      detail: `${hook} on ${name}`,
      nodes: [name],
      time: end?.time ?? 0,
    })),
    ...hooks
      .filter(({ result }) => result === 'timed out' || result === 'failed')
      .map(hook => ({
        severity: 'amber' as const,
        title: `Hook ${hook.result}`,
        detail: `${hook.name} on ${name}`,
        nodes: [name],
        time: hook.from,
      })),
  ];
}

/** One for each hook, however many nodes it was called for. */
function unawaited(lanes: readonly Lane[]): readonly Badge[] {
  const calls = lanes.flatMap(lane => lane.unawaitedHooks.map(hook => ({ hook, lane })));
  return [...Map.groupBy(calls, ({ hook }) => hook)].map(([hook, found]) => {
    const nodes = found.map(({ lane }) => lane.name);
    const listed = nodes.length > 4 ? `${nodes.length} nodes` : nodes.join(', ');
    const time = Math.min(...found.map(({ lane }) => lane.end?.time ?? Infinity));
    return { severity: 'amber', title: 'Hook not waited for', detail: `${hook} on ${listed}`, nodes, time };
  });
}

function flapping({ name, bars, end }: Lane): readonly Badge[] {
  const times = bars.filter(({ kind }) => kind === 'unhealthy');
  const first = times.findIndex((bar, index) => (times[index + FLAPS - 1]?.from ?? Infinity) - bar.from <= HOUR);
  const [begun, last] = [times[first], times.at(-1)];
  if (begun === undefined || last === undefined) return [];
  const outcome = end?.by === 'repair' ? '' : ', not repaired';
  return [
    {
      severity: 'amber',
      title: 'Flapping',
      detail: `${name}, ${times.length - first}× in ${spanText(last.to - begun.from)}${outcome}`,
      nodes: [name],
      time: begun.from,
    },
  ];
}

function takenOf({ name, takenPods, pods, end, bars }: Lane): readonly Badge[] {
  if (end === undefined) return [];
  return takenPods.map(pod => {
    const until = bars.find(({ kind }) => kind === 'protection')?.until;
    const row = pods.find(({ namespace, name: podName }) => `${namespace}/${podName}` === pod);
    const early = until === undefined ? '' : `, ${spanText(until - (row?.to ?? end.time))} early`;
    return { severity: 'amber', title: 'Protected pod taken', detail: `${pod}${early}`, nodes: [name], time: end.time };
  });
}

const isStuck = (line: TraceLine): line is LineOf<'event'> =>
  line.kind === 'event' && line.reason === 'NodeRepairStuck';

const stuck = (lines: readonly TraceLine[]): readonly Badge[] =>
  [...Map.groupBy(lines.filter(isStuck), ({ about }) => about.name ?? '')].map(([name, said]) => ({
    severity: 'red',
    title: 'Repair stuck',
    detail: `${name}: ${said.at(-1)?.message ?? ''}`,
    nodes: [name],
    time: Date.parse(said[0]?.t ?? ''),
  }));

function buried(lines: readonly TraceLine[]): readonly Badge[] {
  const found = lines.filter(line => line.kind === 'buried');
  const [first] = found;
  if (first === undefined) return [];
  return [
    {
      severity: 'red',
      title: 'Dead-letter queue',
      detail: `${found.length} from ${clockText(Date.parse(first.t))} on, ${first.reason}`,
      nodes: [],
      time: Date.parse(first.t),
    },
  ];
}

/** Of a run that did not go as it was expected. */
const failed = (lines: readonly TraceLine[]): readonly Badge[] =>
  lines.flatMap(line =>
    line.kind === 'end' && line.ok === false
      ? [
          {
            severity: 'red' as const,
            title: 'Run failed',
            detail: shortened(line.problems[0] ?? ''),
            nodes: [],
            time: Date.parse(line.t),
          },
        ]
      : [],
  );
