/** The documents that users and operators read, and the commands in them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Document {
  readonly file: string;
  readonly text: string;
}

/** Decisions are no part of it: they are written for contributors. */
export const DOCUMENTS: readonly Document[] = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'bench/README.md',
  'examples/README.md',
  'simulator/README.md',
  'test/control-plane/README.md',
  ...globSync('{docs,docs/guides,docs/internals,examples/*,packages/*}/*.md', { cwd: ROOT })
    .filter(file => file !== 'examples/regressions/README.md')
    .toSorted(),
].map(file => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

/** Those in force: a decision that another one has replaced is deleted. */
export const DECISIONS: readonly Document[] = globSync('docs/adr/0*.md', { cwd: ROOT })
  .toSorted()
  .map(file => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

/** Texts between backticks, outside of blocks, with line breaks made spaces. */
export function inlineCode({ text }: Document): readonly string[] {
  const outside = text.replaceAll(/```[^]*?```/g, '');
  return [...outside.matchAll(/`([^`]+)`/g)].map(([, code]) => (code ?? '').replaceAll(/\s+/g, ' '));
}

const STARTS = /^(npm|npx|node|bash|docker|kubectl|curfew|aws|cdk|git|go) /;
/** Whether a line is typed as it stands. */
export const isCommand = (line: string): boolean => STARTS.test(line);

/** Blocks between fences: their language (empty: none) and their lines. */
export function blocks({
  text,
}: Document): readonly { readonly language: string; readonly lines: readonly string[] }[] {
  return [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(([, language = '', block = '']) => ({
    language,
    lines: block.split('\n'),
  }));
}

/** Each line of a shell block, as it stands. */
export const shellLines = (document: Document): readonly string[] =>
  blocks(document)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ lines }) => lines.map(line => line.trim()))
    .filter(line => line !== '');

/** Each line of a shell block, without its comment; what is typed in a block without a language; inline code that begins as a command does. */
export function commands(document: Document): readonly string[] {
  const lines = blocks(document).flatMap(block => {
    if (['sh', 'bash'].includes(block.language)) return block.lines.map(line => line.replace(/(^|\s+)#.*$/, '').trim());
    if (block.language !== '') return [];
    return block.lines.map(line => line.replace(/^\$ /, '')).filter(line => STARTS.test(line));
  });
  return [...lines.filter(line => line !== ''), ...inlineCommands(document)];
}

/** Inline code that begins as a command does. */
export const inlineCommands = (document: Document): readonly string[] =>
  inlineCode(document).filter(code => STARTS.test(code));

/** The source in which the commands of `curfew` and their options are defined. */
export const COMMAND_DEFINITIONS: string = globSync('cli/commands/*.ts', { cwd: ROOT })
  .map(file => readFileSync(join(ROOT, file), 'utf8'))
  .join('\n');

/** Guides whose blocks make one story on `npm start -- --serve`, in the order in which a new reader comes to them. */
export const GUIDES_ON_SERVE: readonly string[] = [
  'docs/guides/getting-started.md',
  'docs/guides/protect-a-job.md',
  'docs/guides/drain-a-node.md',
  'docs/guides/terminate-with-a-hook.md',
  'docs/guides/finalizer-rule.md',
  'docs/guides/try-a-policy.md',
];
