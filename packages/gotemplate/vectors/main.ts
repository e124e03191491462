/** `npm run gotemplate:vectors -- FILE...`: runs vectors files and says which vectors do not hold. */
import { readFileSync } from 'node:fs';
import { difference, type Vector } from './run.ts';

/** A file that holds no vectors. */
class UnreadableFile extends Error {}

function read(file: string): readonly Vector[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UnreadableFile(`${file}: ${(error as Error).message}`);
  }
  const vectors = (content as { vectors?: unknown } | null)?.vectors;
  if (!Array.isArray(vectors)) throw new UnreadableFile(`${file}: no list "vectors" in it`);
  vectors.forEach((vector, i) => check(file, vector, i));
  return vectors as Vector[];
}

function check(file: string, vector: unknown, i: number): void {
  const { id, template } = (vector ?? {}) as Partial<Vector>;
  if (typeof id === 'string' && typeof template === 'string') return;
  throw new UnreadableFile(`${file}: vector ${i} has no id or no template`);
}

function main(files: readonly string[]): number {
  if (files.length === 0) throw new UnreadableFile('usage: npm run --silent gotemplate:vectors -- FILE...');
  let [held, total] = [0, 0];
  for (const vector of files.flatMap(read)) {
    const found = difference(vector);
    total++;
    if (found === undefined) held++;
    else process.stdout.write(`${vector.id}\n  expected: ${found.expected}\n  got:      ${found.got}\n`);
  }
  process.stdout.write(`${held} of ${total} hold\n`);
  return held === total ? 0 : 1;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UnreadableFile)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
