/**
 * Finds the values that a drain template prints without quotes: their text then decides how YAML reads them. It renders
 * the template for texts that YAML takes for something else.
 */
import * as gotemplate from '../../packages/gotemplate/src/index.ts';
import type { HealthEvent } from '../../shared/domain/health-event.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type { JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { SAMPLE_EVENT, SAMPLE_PODS, type PodsToDrain } from '../../shared/custom-resource/drain-sample.ts';
import { drainTemplate, templateData } from '../../shared/custom-resource/drain-template.ts';
import { executeTemplate, parseTemplate, type TemplateFault } from '../../shared/custom-resource/render.ts';
import { readRenderedYaml } from '../../shared/custom-resource/rendered-yaml.ts';

/** Texts that are something else in YAML where nothing quotes them: on one line, and on two. */
const FREE = ['probe: "b" \'c\' {d} #e', 'probe\nb: c'];
/** A name in Kubernetes may be a number. */
const NAME = ['0123'];

interface Probe {
  readonly path: readonly string[];
  readonly texts: readonly string[];
  readonly event?: (text: string) => Partial<HealthEvent>;
  readonly pods?: (text: string) => PodsToDrain;
}

const ofEvent = (path: string, texts: readonly string[], event: NonNullable<Probe['event']>): Probe => ({
  path: ['HealthEvent', ...path.split('.')],
  texts,
  event,
});

const PROBES: readonly Probe[] = [
  ofEvent('Message', FREE, message => ({ message })),
  ofEvent('Agent', FREE, agent => ({ agent })),
  ofEvent('ComponentClass', FREE, componentClass => ({ componentClass })),
  ofEvent('CheckName', FREE, checkName => ({ checkName })),
  ofEvent('CustomRecommendedAction', FREE, customRecommendedAction => ({ customRecommendedAction })),
  ofEvent('ErrorCode', [...FREE, ...NAME], code => ({ errorCode: [code] })),
  ofEvent('EntitiesImpacted.[].EntityType', FREE, entityType => ({
    entitiesImpacted: [{ entityType, entityValue: 'GPU-1' }],
  })),
  ofEvent('EntitiesImpacted.[].EntityValue', FREE, entityValue => ({
    entitiesImpacted: [{ entityType: 'GPU_UUID', entityValue }],
  })),
  ofEvent('Metadata', FREE, providerID => ({ metadata: { providerID } })),
  ofEvent('NodeName', NAME, nodeName => ({ nodeName })),
  { path: ['EventID'], texts: NAME, event: id => ({ id }) },
  { path: ['PodsToDrain'], texts: NAME, pods: name => ({ default: [name] }) },
];

/** The values that a template which can be parsed prints without quotes, by line. */
export function unquotedValues(text: string): readonly TemplateFault[] {
  const source = drainTemplate(text);
  const parsed = parseTemplate(source);
  if (!parsed.ok) return [];
  const { template } = parsed;
  const isQuoted = ({ texts, event, pods }: Probe): boolean =>
    texts.every(probe => {
      const given = { ...SAMPLE_EVENT, ...event?.(probe) };
      const run = executeTemplate(
        template,
        source,
        templateData({ event: given, podsToDrain: pods?.(probe) ?? SAMPLE_PODS }),
      );
      // What a function refuses, and what is printed in other words, is not printed as it stands.
      if (!run.ok || !run.text.includes(probe)) return true;
      const read = readRenderedYaml(run.text);
      return (
        read.ok && timesIn(run.text, probe) <= textsOf(read.value).reduce((sum, leaf) => sum + timesIn(leaf, probe), 0)
      );
    });
  const places = gotemplate.references(template);
  const faults = PROBES.filter(probe => !isQuoted(probe)).map(({ path }): TemplateFault => {
    const isOf = (own: readonly string[]): boolean => path.every((name, index) => own[index] === name);
    const { line, column } = places.find(reference => isOf(reference.path)) ?? { line: 1, column: 0 };
    const name = `.${path.join('.').replaceAll('.[]', '[]')}`;
    const message = `${name} is printed without quotes, so that a text can change what the YAML says: write {{ printf "%q" … }}`;
    return { line, column: column + 1, message };
  });
  return faults.toSorted((a, b) => a.line - b.line || (a.column ?? 0) - (b.column ?? 0));
}

const timesIn = (text: string, part: string): number => text.split(part).length - 1;

/** All texts of a document, keys included. */
function textsOf(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, each]) => [key, ...textsOf(each)]) : [];
}
