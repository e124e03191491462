/** Checks a configuration as the functions do, and renders the custom resource of its drain template. */
import { parse as parseToml, TomlError } from 'smol-toml';
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
import { findingAt, type Finding, type Severity } from '../../simulator/scenario/finding.ts';
import { inOneVoice } from '../findings/voice.ts';
import type { CheckedInput } from './checked.ts';
import { toPath, valueAt } from './value-path.ts';
import { unquotedValues } from './unquoted-values.ts';

export interface ConfigurationSource {
  readonly file: string;
  readonly name: string;
  /** Keys of the ConfigMap. */
  readonly data: Readonly<Record<string, string>>;
  /** In which file a line of a key stands, and how far the text of the key is indented there. */
  readonly locate: (
    key: string,
    line: number,
  ) => { readonly file: string; readonly line: number; readonly indent: number };
}

/** @param event what the template is rendered for; undefined: a sample */
export function checkConfiguration(source: ConfigurationSource, event: HealthEvent | undefined): CheckedInput {
  const { file, name, data, locate } = source;
  const checked = { file, kind: 'Configuration', name };
  const content = contentOf(data);
  const at = (fault: ConfigFault, severity: Severity = 'error'): Finding => {
    const { file: key = CONFIG_MAP.key, line, column, valueColumn, key: path, message } = fault;
    const { indent, ...place } = locate(key, line);
    const value = path === '' ? undefined : valueAt(content, toPath(path));
    return findingAt(
      {
        ...place,
        ...(column !== undefined && { column: column + indent }),
        ...(valueColumn !== undefined && { valueColumn: valueColumn + indent }),
        path,
      },
      inOneVoice(message, { path: toPath(path), value, schema: {} }),
      severity,
    );
  };
  const read = readConfiguration(data);
  if (!read.ok) return { ...checked, findings: read.faults.map(fault => at(fault)) };
  const { drain, template, healthEvents } = read.value;
  const remembered = healthEvents.maxEventAge > MESSAGE_LIFETIME ? [at(longerThanRemembered(data), 'warning')] : [];
  const custom = drain?.customDrain;
  if (custom === undefined || template === undefined) return { ...checked, findings: remembered };
  const about = event ?? SAMPLE_EVENT;
  const rendered = renderDrainResource(
    custom,
    template,
    { event: about, podsToDrain: SAMPLE_PODS },
    drainResourceName(about.nodeName, about.id),
  );
  const inTemplate = { file: custom.templateFileName, key: '' };
  const unquoted = unquotedValues(template).map(fault => at({ ...inTemplate, ...fault }, 'warning'));
  const warnings = [...remembered, ...unquoted];
  if (rendered.ok) return { ...checked, findings: warnings, rendered: toYaml(rendered.manifest) };
  const { line = 1, message } = rendered;
  return { ...checked, findings: [at({ ...inTemplate, line, message }), ...warnings] };
}

/** The content of the TOML; undefined if it does not parse. */
function contentOf(data: ConfigurationSource['data']): unknown {
  try {
    return parseToml(data[CONFIG_MAP.key] ?? '');
  } catch (error) {
    if (error instanceof TomlError) return undefined;
    throw error;
  }
}

/**
 * Warns of an age limit beyond the time for which ends of drains are remembered. An older event may have been answered,
 * so it drains nothing.
 */
function longerThanRemembered(data: ConfigurationSource['data']): ConfigFault {
  const key = 'maxEventAge';
  const parsed = parseConfig(data[CONFIG_MAP.key] ?? '');
  const place = parsed.ok ? parsed.positionOf([key]) : { line: 1 };
  const days = MESSAGE_LIFETIME / hours(24);
  const message = `how drains ended is remembered for ${days} days, more than that counts as ${formatDuration(MESSAGE_LIFETIME)}`;
  return { ...place, key, message };
}

/** Integers with all their digits. */
const toYaml = (manifest: object): string => stringify(parse(JSON.stringify(manifest), { intAsBigInt: true }));
