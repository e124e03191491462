/** One small change of a rule, and what became of it. */

export interface Mutant {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  /** What was there, what is there instead, and the line on which it begins: it names the mutant wherever that line moves. */
  readonly change: string;
}

/** `static`: only what runs when the file is loaded reaches it, and that is over before a test begins. */
export type Fate = 'killed' | 'survived' | 'notCovered' | 'static';

/** What the process of the tests gets. */
export interface Plan {
  /** Their files. */
  readonly tests: readonly string[];
  /** What is loaded in place of each file, by its URL. */
  readonly sources: Readonly<Record<string, string>>;
}

/** What that process tells; the lists have identities of mutants. */
export interface Outcome {
  readonly reached: readonly string[];
  readonly atLoad: readonly string[];
  readonly killed: readonly string[];
  /** Tests that took too long, or that pass once and not twice. */
  readonly leftOut: readonly string[];
}

export function fateOf(id: string, { reached, atLoad, killed }: Outcome): Fate {
  if (killed.includes(id)) return 'killed';
  if (reached.includes(id)) return 'survived';
  return atLoad.includes(id) ? 'static' : 'notCovered';
}
