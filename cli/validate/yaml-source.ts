/** A YAML or JSON file as documents whose parts know their places. */
import { isMap, isScalar, LineCounter, parseAllDocuments, Scalar, type Document } from 'yaml';
import { findingAt, type Finding } from '../../simulator/scenario/finding.ts';
import { placeAt, placeOf, type Path } from '../../simulator/scenario/places.ts';
import type { Place } from '../../simulator/scenario/scenario.ts';
import { describeYamlFailure, firstFailure } from '../../simulator/scenario/yaml-failures.ts';
import { readValue } from '../../simulator/scenario/yaml-value.ts';
import { messageOf } from '../../shared/errors.ts';

export interface SourceDocument {
  readonly value: unknown;
  readonly placeOf: (path: Path) => Place;
  /** The line of the first line of the text that stands at `path`, and how far that text is indented. */
  readonly textAt: (path: Path) => { readonly line: number; readonly indent: number };
}

export interface YamlSource {
  /** Documents that can be read. */
  readonly documents: readonly SourceDocument[];
  /** Reasons why other documents cannot be read. */
  readonly findings: readonly Finding[];
}

/** Reads all documents. Never throws. */
export function readYaml(text: string, file: string): YamlSource {
  const lines = new LineCounter();
  const failed = (message: string): YamlSource => ({
    documents: [],
    findings: [findingAt({ file, line: 1, path: '' }, message)],
  });
  if (text.includes('\0')) return failed('is not text');
  try {
    const parsed = parseAllDocuments(text, {
      lineCounter: lines,
      merge: true,
      prettyErrors: false,
      logLevel: 'silent',
    });
    if (!Array.isArray(parsed)) return { documents: [], findings: [] };
    const documents: SourceDocument[] = [];
    const findings: Finding[] = [];
    for (const document of parsed) {
      const failure = firstFailure(document.errors);
      if (failure === undefined) {
        const read = readValue(file, document, lines);
        if (read.ok) documents.push(toSource({ file, text, value: read.value }, document, lines));
        else findings.push(findingAt(read.place, read.message));
      } else findings.push(findingAt(placeAt(file, lines, failure.offset), failure.message));
    }
    return { documents, findings: [...findings, ...notJson(text, file)] };
  } catch (error) {
    return failed(describeYamlFailure(messageOf(error)));
  }
}

const toSource = (
  { file, text, value }: { readonly file: string; readonly text: string; readonly value: unknown },
  document: Document,
  lines: LineCounter,
): SourceDocument => ({
  value,
  placeOf: path => placeOf(file, document, lines, path),
  textAt: path => textAt(text, document, lines, path),
});

/** JSON is YAML, and not the other way round: kubectl refuses what only YAML allows, such as a comma after the last entry. */
function notJson(text: string, file: string): readonly Finding[] {
  if (!file.endsWith('.json')) return [];
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    const message = messageOf(error);
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
    const place = { file, line: Number(line ?? 1), ...(column !== undefined && { column: Number(column) }), path: '' };
    return [findingAt(place, `is no JSON: ${message.replace(/ in JSON at position.*$/s, '')}`)];
  }
}

/** Text in a block begins in the line after its `|` or `>`. */
function textAt(
  text: string,
  document: Document,
  lines: LineCounter,
  path: Path,
): ReturnType<SourceDocument['textAt']> {
  let node: unknown = document.contents;
  for (const key of path) {
    node = isMap(node) ? node.items.find(pair => isScalar(pair.key) && pair.key.value === key)?.value : undefined;
  }
  if (!isScalar(node) || node.range === null || node.range === undefined) return { line: 1, indent: 0 };
  const { line } = lines.linePos(node.range[0]);
  const isBlock = node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED;
  if (!isBlock) return { line, indent: 0 };
  const first = text.slice(lines.lineStarts[line]).replace(/^\s*\n/, '');
  return { line: line + 1, indent: /^ */.exec(first)?.[0].length ?? 0 };
}
