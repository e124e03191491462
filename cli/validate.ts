/** `curfew validate PATH...`: says what Curfew would refuse, before it does: configurations, policies, FinalizerRules, scenarios. */
import { readFile } from 'node:fs/promises';
import { parseHealthEvent } from '../shared/contract/health-event.ts';
import type { HealthEvent } from '../shared/domain/health-event.ts';
import { clusterCatalog } from '../simulator/world.ts';
import type { CommandOutput } from './command-output.ts';
import { UsageError } from './usage-error.ts';
import { checkFile } from './validate/check-file.ts';
import { readSources, readText } from './validate/files.ts';
import { formatFinding, isFault, type Checked } from './validate/finding.ts';
import { createObjectChecker } from './validate/objects.ts';
import { readYaml } from './validate/yaml-source.ts';

export interface ValidateOptions {
  /** File of the drain template, in place of the one that the configuration names. */
  readonly template?: string;
  /** File of a HealthEvent, JSON or YAML, that the template is rendered for. */
  readonly event?: string;
  readonly output?: string;
}

/** Exit code 0: all is valid, warnings included. 1: something is not; each fault is printed with its line. 2: a file cannot be read. */
export async function validateCommand(
  paths: readonly string[],
  options: ValidateOptions,
  output: CommandOutput,
): Promise<number> {
  try {
    const checked = await check(paths, options);
    const valid = checked.every(({ findings }) => !findings.some(isFault));
    output.out(options.output === 'json' ? `${JSON.stringify({ valid, checked }, undefined, 2)}\n` : format(checked));
    return valid ? 0 : 1;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    output.error(`${error.message}\n`);
    return 2;
  }
}

async function check(paths: readonly string[], options: ValidateOptions): Promise<readonly Checked[]> {
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
  const checked: Checked[] = [];
  for (const source of sources) checked.push(...(await checkFile(source, context)));
  return checked;
}

/** Throws `UsageError`. */
function readEvent(text: string, file: string): HealthEvent {
  const { documents, findings } = readYaml(text, file);
  const [finding] = findings;
  if (finding !== undefined) throw new UsageError(formatFinding(finding));
  const parsed = parseHealthEvent(documents[0]?.value, { id: 'an-event' });
  if (!parsed.ok) throw new UsageError(`${file}: ${parsed.message}`);
  return parsed.value.event;
}

function format(checked: readonly Checked[]): string {
  const lines: string[] = [];
  for (const { file, kind, name, findings, rendered, notes = [] } of checked) {
    lines.push(...findings.map(formatFinding));
    const warnings = findings.length;
    if (warnings === 0) lines.push(`${file}: ${kind} ${name} is valid`);
    else if (!findings.some(isFault)) {
      lines.push(`${file}: ${kind} ${name} is accepted, with ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`);
    }
    lines.push(...notes.map(note => `    ${note}`));
    if (rendered !== undefined) lines.push(...rendered.trimEnd().split('\n').map(line => `    ${line}`)); // prettier-ignore
  }
  const faults = checked.reduce((sum, { findings }) => sum + findings.filter(isFault).length, 0);
  if (checked.length === 0) lines.push('nothing that Curfew reads was found');
  else if (faults > 0) lines.push(`${faults} ${faults === 1 ? 'fault' : 'faults'} in ${checked.length} checked`);
  return `${lines.join('\n')}\n`;
}
