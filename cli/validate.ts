/** `curfew validate PATH...`: says what Curfew would refuse, before it does: configurations, policies, FinalizerRules, scenarios. */
import { readFile } from 'node:fs/promises';
import { createColors } from 'picocolors';
import { parseHealthEvent } from '../shared/contract/health-event.ts';
import type { HealthEvent } from '../shared/domain/health-event.ts';
import type { Finding, Severity } from '../simulator/scenario/finding.ts';
import { wantsColors } from '../simulator/terminal-colors.ts';
import { clusterCatalog } from '../simulator/world.ts';
import type { CommandOutput } from './command-output.ts';
import { renderFindings } from './findings/excerpt.ts';
import { refusal } from './findings/refuse.ts';
import { UsageError } from './usage-error.ts';
import { acrossFiles } from './validate/across-files.ts';
import { checkFile, type CheckedPart } from './validate/check-file.ts';
import { byPlace, type CheckedInput } from './validate/checked.ts';
import { readSources, readText } from './validate/files.ts';
import { createObjectChecker, isAccepted } from './validate/objects.ts';
import { templateFindings } from './validate/templates.ts';
import { readYaml } from './validate/yaml-source.ts';

export interface ValidateOptions {
  /** File of the drain template, in place of the one that the configuration names. */
  readonly template?: string;
  /** File of a HealthEvent, JSON or YAML, that the template is rendered for. */
  readonly event?: string;
  /** Whether a warning fails, too. */
  readonly strict?: boolean;
  readonly output?: string;
}

/**
 * Exit code 0: all is valid, warnings included. 1: something is not, or, with `strict`, has a warning; each finding is printed with its
 * place. 2: a file cannot be read.
 */
export async function validateCommand(
  paths: readonly string[],
  options: ValidateOptions,
  output: CommandOutput,
): Promise<number> {
  try {
    const { checked, texts } = await check(paths, options);
    const has = (wanted: Severity): boolean =>
      checked.some(({ findings }) => findings.some(({ severity }) => severity === wanted));
    const valid = !has('error') && !(options.strict === true && has('warning'));
    const json = (): string => `${JSON.stringify({ valid, checked }, undefined, 2)}\n`;
    output.out(options.output === 'json' ? json() : format(checked, texts));
    return valid ? 0 : 1;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    output.error(`${error.message}\n`);
    return 2;
  }
}

type Texts = ReadonlyMap<string, string>;

async function check(
  paths: readonly string[],
  options: ValidateOptions,
): Promise<{ readonly checked: readonly CheckedInput[]; readonly texts: Texts }> {
  const sources = await readSources(paths);
  const template =
    options.template === undefined ? undefined : { file: options.template, text: await readText(options.template) };
  const event = options.event === undefined ? undefined : readEvent(await readText(options.event), options.event);
  const context = {
    objects: createObjectChecker(),
    catalog: clusterCatalog(),
    event,
    template,
    readSibling: (file: string) => readFile(file, 'utf8').catch(() => undefined),
  };
  const parts: CheckedPart[] = [];
  for (const source of sources) parts.push(...(await checkFile(source, context)));
  return { checked: withNeighbours(parts), texts: new Map(sources.map(({ file, text }) => [file, text])) };
}

/** Each part with what the others make of it. */
function withNeighbours(parts: readonly CheckedPart[]): readonly CheckedInput[] {
  const objects = parts.flatMap(({ checked, object }) => (object && isAccepted(checked) ? [object] : []));
  const found = acrossFiles(objects);
  const templates = parts.findLast(part => part.templates !== undefined)?.templates;
  return parts.map(({ checked, object }) => {
    const across = object === undefined ? [] : (found.get(object) ?? []);
    const ofTemplates = templates && object && isAccepted(checked) ? templateFindings(object, templates) : [];
    const own = [...across, ...ofTemplates];
    return { ...checked, findings: [...checked.findings, ...own].toSorted(byPlace) };
  });
}

/** Throws `UsageError`. */
function readEvent(text: string, file: string): HealthEvent {
  const { documents, findings } = readYaml(text, file);
  if (findings.length > 0) throw refusal(findings, new Map([[file, text]]));
  const parsed = parseHealthEvent(documents[0]?.value, { id: 'an-event' });
  if (!parsed.ok) throw new UsageError(`${file}: ${parsed.message}`);
  return parsed.value.event;
}

function format(checked: readonly CheckedInput[], texts: Texts): string {
  const colors = createColors(wantsColors(process.stdout));
  const lines: string[] = [];
  for (const each of checked) {
    const { file, kind, name, findings, rendered, notes = [] } = each;
    lines.push(...renderFindings(findings, { texts, colors }));
    const verdict = findings.some(({ severity }) => severity === 'warning') ? 'accepted' : 'valid';
    const remarks = findings.length === 0 ? '' : `, with ${counts(findings)}`;
    if (isAccepted(each)) lines.push(`${file}: ${kind} ${name} is ${verdict}${remarks}`);
    lines.push(...notes.map(note => `    ${note}`));
    if (rendered !== undefined) lines.push(...rendered.trimEnd().split('\n').map(line => `    ${line}`)); // prettier-ignore
  }
  const all = checked.flatMap(({ findings }) => findings);
  if (checked.length === 0) lines.push('nothing that Curfew reads was found');
  else if (all.length > 0) lines.push(`${counts(all)} in ${checked.length} checked`);
  return `${lines.join('\n')}\n`;
}

/** `2 errors, 1 warning`. */
function counts(findings: readonly Finding[]): string {
  const severities: readonly Severity[] = ['error', 'warning', 'note'];
  return severities
    .flatMap(severity => {
      const count = findings.filter(finding => finding.severity === severity).length;
      return count === 0 ? [] : [`${count} ${severity}${count === 1 ? '' : 's'}`];
    })
    .join(', ');
}
