/** The documents that users and operators read, and the commands in them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Document {
  readonly file: string;
  readonly text: string;
}

/** Decisions (`docs/adr`) tell of their time, so they are no part of it. */
export const DOCUMENTS: readonly Document[] = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'examples/README.md',
  ...globSync('{docs,examples/*}/*.md', { cwd: ROOT })
    .filter(file => file !== 'examples/regressions/README.md')
    .toSorted(),
].map(file => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

/** Texts between backticks, outside of blocks, with line breaks made spaces. */
export function inlineCode({ text }: Document): readonly string[] {
  const outside = text.replaceAll(/```[^]*?```/g, '');
  return [...outside.matchAll(/`([^`]+)`/g)].map(([, code]) => (code ?? '').replaceAll(/\s+/g, ' '));
}

const STARTS = /^(npm|npx|node|bash|docker|kubectl|curfew|aws|cdk) /;

/** Each line of a shell block, without its comment, and each piece of inline code that begins as a command does. */
export function commands(document: Document): readonly string[] {
  const blocks = [...document.text.matchAll(/```(?:sh|bash)\n([^]*?)```/g)].flatMap(([, block]) =>
    (block ?? '').split('\n'),
  );
  const inBlocks = blocks.map(line => line.replace(/\s+#.*$/, '').trim()).filter(line => line !== '');
  return [...inBlocks, ...inlineCode(document).filter(code => STARTS.test(code))];
}
