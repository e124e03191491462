/** Findings with the line that they are about, and a caret below the part of it: on a terminal in colours. */
import { readFileSync, statSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { createColors } from 'picocolors';
import { onOneLine } from '../../shared/domain/printable.ts';
import { formatPlace, type Finding, type Severity } from '../../simulator/scenario/finding.ts';

type Colors = ReturnType<typeof createColors>;

export interface ExcerptOptions {
  /** Texts that were read already, by file; any other file is read from the disk once more. */
  readonly texts?: ReadonlyMap<string, string>;
  readonly colors?: Colors;
}

/** Longest part of a line that is shown. */
const MAX_WIDTH = 120;
/** Number of characters that are shown of a longer line before the place. */
const LEAD = 40;
/** Longest file that is read once more. */
const MAX_BYTES = 50_000_000;

const COLOURED: Readonly<Record<Severity, (colors: Colors, text: string) => string>> = {
  error: ({ bold, red }, text) => bold(red(text)),
  warning: ({ bold, yellow }, text) => bold(yellow(text)),
  note: ({ bold, cyan }, text) => bold(cyan(text)),
};

/** The lines of one finding. Reads its file where `texts` has none. */
export function renderFindings(findings: readonly Finding[], options: ExcerptOptions = {}): readonly string[] {
  const { colors = createColors(false) } = options;
  const texts = new Map(options.texts);
  const lineOf = ({ file, line }: Finding): string | undefined => {
    const text = texts.get(file) ?? readAgain(file);
    texts.set(file, text);
    return text.split(/\r?\n/, line)[line - 1];
  };
  return findings.flatMap(finding => {
    const { path, message, severity } = finding;
    const said = onOneLine(path === '' ? message : `${path}: ${message}`);
    const place = colors.bold(onOneLine(formatPlace(finding)));
    return [`${place}: ${COLOURED[severity](colors, severity)}: ${said}`, ...excerpt(finding, lineOf(finding), colors)];
  });
}

function excerpt({ line, column, severity }: Finding, text: string | undefined, colors: Colors): readonly string[] {
  if (column === undefined || text === undefined || text.trim() === '') return [];
  const from = column - 1 <= MAX_WIDTH / 2 ? 0 : column - 1 - LEAD;
  const shown = plain(text.slice(from, from + MAX_WIDTH));
  const gutter = ` ${line} | `;
  const blank = `${' '.repeat(gutter.length - 2)}| `;
  const width = Math.max(1, Math.min(pointedAt(text.slice(column - 1)), MAX_WIDTH - (column - 1 - from)));
  const caret = `${' '.repeat(column - 1 - from)}${'^'.repeat(width)}`;
  return [`${colors.dim(gutter)}${shown.trimEnd()}`, `${colors.dim(blank)}${COLOURED[severity](colors, caret)}`];
}

/** Length of the key or value that begins here: a quoted text, or a plain one up to what ends it in YAML and TOML. */
function pointedAt(rest: string): number {
  const quoted = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/.exec(rest)?.[0];
  const text = quoted ?? /^(?:[^,{}[\]#:=\s]|:(?=\S)|[ ](?=[^\s,{}[\]#:=])|#(?<=\S#))+/.exec(rest)?.[0] ?? '';
  return text.trimEnd().length;
}

/** One column for each character, and nothing that a terminal would act on. */
const plain = (text: string): string =>
  stripVTControlCharacters(text)
    .replaceAll('\t', ' ')
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '?');

/** Empty for what cannot be read again, such as standard input. */
function readAgain(file: string): string {
  try {
    const status = statSync(file);
    return status.isFile() && status.size <= MAX_BYTES ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  }
}
