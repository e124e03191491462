/** What happens in a cluster for a while: the stories of its focus, and what is laid over those of any. */
import { addDuration, seconds, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { PlacedManifest } from '../../scenario/scenario.ts';
import { drawChecks } from './checks.ts';
import { drawDenials } from './denials.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import { drawCleanupWorkers, drawFinalizerRuleDeletions } from './finalizer-rules.ts';
import type { Focus } from './focus.ts';
import { drawHardships, HARDSHIPS_FROM } from './hardships.ts';
import { drawHookWork } from './hook-resources.ts';
import { drawDrifts, drawReboots, KARPENTER_REBOOTS_FROM, KARPENTERS_FROM } from './karpenters.ts';
import { drawLasting, drawRefusals } from './lasting.ts';
import { drawMishaps, MISHAPS_FROM } from './mishaps.ts';
import type { Draft, Model } from './model.ts';
import { drawUpheavals } from './upheavals.ts';

export interface Episode {
  /** Which says what its range draws. */
  readonly seed: number;
  readonly focus: Focus;
  readonly model: Model;
  /** What stands there. */
  readonly objects: readonly PlacedManifest[];
  /** The text of `config.toml`. */
  readonly config: string | undefined;
  readonly start: EpochMs;
  /** In which steps are taken. */
  readonly span: DurationMs;
  /** Where the hardships are drawn from. */
  readonly hard: Random;
  /** Whether something may happen to the installation. */
  readonly hasMishaps: boolean;
}

export function drawEpisode(root: Random, episode: Episode): readonly Draft[] {
  const { seed, model, objects, config, start, span, hard, hasMishaps } = episode;
  return [
    ...drawStories(root.stream('stories'), episode),
    ...drawDenials(root.stream('denials'), model, start, span),
    ...drawCleanupWorkers(root.stream('workers'), model, start, span),
    ...drawHookWork(root.stream('hook work'), model, start, span),
    ...drawFinalizerRuleDeletions(root.stream('rules'), model, start, span),
    ...drawLasting(root.stream('lasting'), model, start, span),
    ...drawRefusals(root.stream('refusals'), model, start, span),
    ...drawUpheavals(root.stream('upheavals'), model, start, span),
    ...(seed >= HARDSHIPS_FROM ? drawHardships(hard, { model, start, span, config, pools: poolsOf(objects) }) : []),
    ...(hasMishaps && seed >= MISHAPS_FROM ? drawMishaps(root.stream('mishaps'), { seed, start, span }) : []),
    ...(seed >= KARPENTERS_FROM ? drawDrifts(root.stream('drifts'), model, start, span) : []),
    ...(seed >= KARPENTER_REBOOTS_FROM ? drawReboots(root.stream('reboots'), model, start, span) : []),
    ...drawChecks(root.stream('checks'), { objects, model, start, span }),
  ];
}

const poolsOf = (objects: readonly PlacedManifest[]): readonly string[] =>
  objects.flatMap(({ manifest }) => (manifest.kind === 'NodePool' ? [manifest.name] : []));

function drawStories(random: Random, { focus, model, start, span }: Episode): readonly Draft[] {
  return times(random.integer(1, focus.mostStories)).flatMap(index => {
    const time = addDuration(start, drawDuration(random, seconds(0), span));
    const story = pickWeighted(random, focus.drawStories(random, model));
    return story({ random: random.stream(String(index)), model, time });
  });
}
