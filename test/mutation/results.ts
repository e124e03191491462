/** What is kept of a run, in bench/results/mutation.json: one row for each file that holds a rule. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const RESULTS = fileURLToPath(new URL('../../bench/results/mutation.json', import.meta.url));

/** How many of its mutants a test notices, how many none does, how many no test reaches, and how many no test could, by reason. */
export interface Row {
  readonly measured: string;
  readonly killed: number;
  readonly survived: number;
  readonly notCovered: number;
  readonly equivalent: Readonly<Record<string, number>>;
}

export interface Results {
  readonly command: string;
  readonly note: string;
  readonly files: Readonly<Record<string, Row>>;
}

const COMMAND = 'npm run mutation';
const NOTE =
  'The mutants of Stryker 10.1.1; left out are those that only the loading of a file reaches, and tests that take the processor more than 50 ms. ' +
  'A lower bound: scenarios and the swarm did not run. No input tells an equivalent mutant from the original, for the reason that is given.';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `keepResults` has written it
export const readResults = (): Results => JSON.parse(readFileSync(RESULTS, 'utf8')) as Results;

/** Takes the new rows, and forgets those of files that are gone. */
export function keepResults(rows: Readonly<Record<string, Row>>): void {
  const all = Object.entries({ ...readResults().files, ...rows });
  const files = Object.fromEntries(all.filter(([file]) => existsSync(file)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(RESULTS, `${JSON.stringify({ command: COMMAND, note: NOTE, files } satisfies Results, null, 2)}\n`);
}

export const equivalentCount = ({ equivalent }: Row): number =>
  Object.values(equivalent).reduce((sum, count) => sum + count, 0);

export const mutantCount = (row: Row): number => row.killed + row.survived + row.notCovered + equivalentCount(row);

/** Of all mutants, also of those that no test could notice; of none, all. */
export const killedPercent = (row: Row): number =>
  mutantCount(row) === 0 ? 100 : Math.floor((100 * row.killed) / mutantCount(row));
