/** What was drawn, as a scenario has it. */
import { isArray, isObject } from '../../../packages/kube-apiserver/src/json.ts';
import type { JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import { GENERATED_ANNOTATION, type PlacedManifest, type Scenario, type Step } from '../../scenario/scenario.ts';
import { GENERATED, START, type Draft } from './model.ts';

/** An object that is stored has no field that is null, and a file that writes one is doubted: what is absent is left out. */
export function withoutEmpty({ manifest, place }: PlacedManifest): PlacedManifest {
  return { manifest: { ...manifest, body: withoutNulls(manifest.body) }, place };
}

function withoutNulls<Value extends JsonValue>(value: Value): Value;
function withoutNulls(value: JsonValue): JsonValue {
  if (isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) =>
      field === null || field === undefined ? [] : [[key, withoutNulls(field)]],
    ),
  );
}

type Drawn = Pick<Scenario, 'end' | 'callDuration' | 'config' | 'templates' | 'actors' | 'objects'>;

/** @param lastTime of a step */
export const generated = (seed: number, drawn: Drawn, drafts: readonly Draft[], lastTime: EpochMs): Scenario => ({
  name: `seed-${seed}`,
  annotations: { [GENERATED_ANNOTATION]: 'true' },
  file: GENERATED.file,
  start: START,
  ...drawn,
  steps: carryOut(drafts, lastTime),
  expectations: [],
  doubts: [],
});

/** In order of time, so that each step builds on those before it. */
function carryOut(drafts: readonly Draft[], lastTime: EpochMs): readonly Step[] {
  const steps: Step[] = [];
  for (const { time, act } of drafts.toSorted((a, b) => a.time - b.time)) {
    if (time < START || time > lastTime) continue;
    const action = act();
    if (action !== undefined) steps.push({ time, action, place: GENERATED });
  }
  return steps;
}
