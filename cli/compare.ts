/** `curfew compare A.yaml B.yaml`, or one scenario with two sets of policies: what differs between two runs. */
import { compareDays, type Comparison } from '../packages/timeline/src/day/compare.ts';
import { readDay } from '../packages/timeline/src/day/day.ts';
import { verdictText } from '../packages/timeline/src/day/verdict.ts';
import type { TraceLine } from '../packages/timeline/src/trace/lines.ts';
import { isJsonObject } from '../shared/domain/json.ts';
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { onOneLine } from '../shared/domain/printable.ts';
import { traceOf } from '../simulator/checked-trace.ts';
import { runScenario } from '../simulator/run.ts';
import type { PlacedManifest, Scenario } from '../simulator/scenario/scenario.ts';
import type { CommandOutput } from './command-output.ts';
import { readScenario } from './explain/on-scenario.ts';
import { reportingFailure } from './failure.ts';
import { readValidObjects } from './read-objects.ts';
import { UsageError } from './usage-error.ts';
import { checkWritable } from './writable.ts';

export interface CompareOptions {
  /** Files or folders of manifests that take the place of those in the scenario: two. */
  readonly policies?: readonly string[];
  readonly output?: string;
  readonly html?: string;
}

/** Exit code 0: compared, whatever differs. 2: a file or an option is not valid. */
export function compareCommand(
  files: readonly string[],
  options: CompareOptions,
  output: CommandOutput,
): Promise<number> {
  return reportingFailure(output, async () => {
    if (options.html !== undefined) checkWritable(options.html, '--html');
    const [a, b] = await readBoth(files, options.policies ?? []);
    const runs = await runBoth(a.scenario, b.scenario);
    await printComparison(runs, [a.name, b.name], options, output);
    return 0;
  });
}

interface NamedScenario {
  readonly name: string;
  readonly scenario: Scenario;
}

/** Throws `UsageError`. */
async function readBoth(
  files: readonly string[],
  policies: readonly string[],
): Promise<readonly [NamedScenario, NamedScenario]> {
  const [first, second, ...more] = files;
  const [old, next, ...rest] = policies;
  if (first !== undefined && second !== undefined && more.length === 0 && policies.length === 0)
    return [
      { name: first, scenario: await readScenario(first) },
      { name: second, scenario: await readScenario(second) },
    ];
  if (first !== undefined && second === undefined && old !== undefined && next !== undefined && rest.length === 0) {
    const scenario = await readScenario(first);
    return [
      { name: old, scenario: withObjects(scenario, await readValidObjects([old]), old) },
      { name: next, scenario: withObjects(scenario, await readValidObjects([next]), next) },
    ];
  }
  throw new UsageError(
    'compare takes two scenarios, or one with two --policies: curfew compare day.yaml --policies old.yaml new.yaml',
  );
}

/** The scenario with these objects in the place of its own of the same kind and name. */
export function withObjects(scenario: Scenario, objects: readonly KubernetesObject[], file: string): Scenario {
  const placed = objects.map((object): PlacedManifest => {
    const { apiVersion, kind, metadata } = object;
    const { name, namespace, labels, annotations } = metadata;
    const body: unknown = JSON.parse(JSON.stringify({ ...object, metadata: { name, namespace, labels, annotations } }));
    if (!isJsonObject(body) || apiVersion === undefined) throw new UsageError(`${file} holds what is no object`);
    return { manifest: { apiVersion, kind, namespace, name, body }, place: { file, line: 1, path: '' } };
  });
  const isReplaced = ({ manifest }: PlacedManifest): boolean =>
    placed.some(each => each.manifest.kind === manifest.kind && each.manifest.name === manifest.name);
  return { ...scenario, objects: [...scenario.objects.filter(each => !isReplaced(each)), ...placed] };
}

export type TwoTraces = readonly [readonly TraceLine[], readonly TraceLine[]];

async function runBoth(a: Scenario, b: Scenario): Promise<TwoTraces> {
  const run = async (scenario: Scenario): Promise<readonly TraceLine[]> =>
    traceOf(await runScenario({ ...scenario, expectations: [] }, { recordsObjects: true }));
  return [await run(a), await run(b)];
}

/** Text, JSON or a page of what differs. */
export async function printComparison(
  [a, b]: TwoTraces,
  files: readonly [string, string],
  {
    output: form,
    html,
    notices = [],
  }: Pick<CompareOptions, 'output' | 'html'> & { readonly notices?: readonly string[] },
  output: CommandOutput,
): Promise<void> {
  const [dayA, dayB] = [readDay(a), readDay(b)];
  const comparison = compareDays(dayA, dayB, files);
  // First, since a reader of the text that has seen enough ends the process.
  if (html !== undefined) {
    const { writePage } = await import('./page/write.ts');
    await writePage(html, comparison.sentence, { lines: a, other: b, runs: files, notices });
  }
  if (form === 'json')
    output.out(
      `${JSON.stringify({ ...comparison, verdicts: [verdictText(dayA.verdict), verdictText(dayB.verdict)] })}\n`,
    );
  else
    output.out(
      `${textOf(comparison, [verdictText(dayA.verdict), verdictText(dayB.verdict)])
        .map(onOneLine)
        .join('\n')}\n`,
    );
  if (html !== undefined) output.error(`the page is ${html}\n`);
}

function textOf({ names, sentence, differences }: Comparison, verdicts: readonly [string, string]): readonly string[] {
  const title = Math.max(0, ...differences.map(each => each.title.length));
  const width = Math.max(names[0].length, ...differences.map(({ a }) => a.length));
  return [
    sentence,
    '',
    `  A  ${names[0]}: ${verdicts[0]}`,
    `  B  ${names[1]}: ${verdicts[1]}`,
    ...(differences.length === 0 ? [] : ['', `  ${''.padEnd(title)}  ${'A'.padEnd(width)}  B`]),
    ...differences.map(({ title: name, a, b }) => `  ${name.padEnd(title)}  ${a.padEnd(width)}  ${b}`),
  ];
}
