/** Checks a configuration as the functions do, and renders the custom resource of its drain template. */
import { parse, stringify } from 'yaml';
import { SAMPLE_EVENT, SAMPLE_PODS } from '../../shared/custom-resource/drain-sample.ts';
import { renderDrainResource } from '../../shared/custom-resource/drain-template.ts';
import { readConfiguration } from '../../shared/cluster/read-configuration.ts';
import { parseConfig, type ConfigFault } from '../../shared/contract/config-schema.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import { drainResourceName } from '../../shared/domain/drain-resource-name.ts';
import { formatDuration } from '../../shared/domain/go-duration.ts';
import type { HealthEvent } from '../../shared/domain/health-event.ts';
import { MESSAGE_LIFETIME } from '../../shared/domain/retention.ts';
import { hours } from '../../shared/domain/time.ts';
import type { Checked, Finding } from './finding.ts';
import { unquotedValues } from './unquoted-values.ts';

export interface ConfigurationSource {
  readonly file: string;
  readonly name: string;
  /** Keys of the ConfigMap. */
  readonly data: Readonly<Record<string, string>>;
  /** Where a line of a key stands in which file. */
  readonly locate: (key: string, line: number) => { readonly file: string; readonly line: number };
}

/** @param event what the template is rendered for; undefined: a sample */
export function checkConfiguration(source: ConfigurationSource, event: HealthEvent | undefined): Checked {
  const { file, name, data, locate } = source;
  const checked = { file, kind: 'Configuration', name };
  const toFinding = ({ file: key = CONFIG_MAP.key, line, column, key: path, message }: ConfigFault): Finding => ({
    ...locate(key, line),
    ...(column !== undefined && { column }),
    path,
    message,
  });
  const read = readConfiguration(data);
  if (!read.ok) return { ...checked, findings: read.faults.map(toFinding) };
  const { drain, template, healthEvents } = read.value;
  const remembered = healthEvents.maxEventAge > MESSAGE_LIFETIME ? [longerThanRemembered(source)] : [];
  const custom = drain?.customDrain;
  if (custom === undefined || template === undefined) return { ...checked, findings: remembered };
  const about = event ?? SAMPLE_EVENT;
  const rendered = renderDrainResource(
    custom,
    template,
    { event: about, podsToDrain: SAMPLE_PODS },
    drainResourceName(about.nodeName, about.id),
  );
  const unquoted = unquotedValues(template).map(({ line, column, message }): Finding => ({
    ...locate(custom.templateFileName, line),
    ...(column !== undefined && { column }),
    path: '',
    message,
    severity: 'warning',
  }));
  const warnings = [...remembered, ...unquoted];
  if (rendered.ok) return { ...checked, findings: warnings, rendered: toYaml(rendered.manifest) };
  const place = locate(custom.templateFileName, rendered.line ?? 1);
  return { ...checked, findings: [{ ...place, path: '', message: rendered.message }, ...warnings] };
}

/** What is older than the ends that are remembered may have been answered: it drains nothing. */
function longerThanRemembered({ data, locate }: ConfigurationSource): Finding {
  const key = 'maxEventAge';
  const parsed = parseConfig(data[CONFIG_MAP.key] ?? '');
  const line = parsed.ok ? parsed.lineOf([key]) : 1;
  const days = MESSAGE_LIFETIME / hours(24);
  const message = `how drains ended is remembered for ${days} days, more than that counts as ${formatDuration(MESSAGE_LIFETIME)}`;
  return { ...locate(CONFIG_MAP.key, line), path: key, message, severity: 'warning' };
}

/** Integers with all their digits. */
const toYaml = (manifest: object): string => stringify(parse(JSON.stringify(manifest), { intAsBigInt: true }));
