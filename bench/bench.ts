/** What a bench is: `main.ts` runs it, prints its rows and writes its results. */
import type { Progress } from '../cli/progress.ts';
import type { Row } from './report/row.ts';

export interface BenchContext {
  /** Small sizes and few rounds, to see that it works; its limits are those of the full size, so they say nothing. */
  readonly quick: boolean;
  /** On a real kube-apiserver instead of the embedded one. */
  readonly controlPlane: boolean;
  /** How long a run takes whose length is its point; default: what the bench is about. */
  readonly minutes?: number | undefined;
  readonly progress: Progress;
}

export interface BenchOutcome {
  readonly rows: readonly Row[];
  /** The sizes of the run, stated beside its numbers. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** What the rows were computed from. */
  readonly samples: Readonly<Record<string, unknown>>;
}

export interface Bench {
  /** One line for `--help`. */
  readonly summary: string;
  readonly runsOnControlPlane: boolean;
  run(context: BenchContext): Promise<BenchOutcome>;
}
