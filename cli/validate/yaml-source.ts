/** A YAML or JSON file as documents whose parts know their lines. */
import { isMap, isScalar, LineCounter, parseAllDocuments, Scalar, type Document } from 'yaml';
import { placeOf, type Path } from '../../simulator/scenario/places.ts';
import { describeYamlFailure, MAX_ALIASES } from '../../simulator/scenario/yaml-failures.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Finding } from './finding.ts';

export interface SourceDocument {
  readonly value: unknown;
  readonly lineOf: (path: Path) => number;
  /** The line of the first line of the text that stands at `path`. */
  readonly textLineOf: (path: Path) => number;
}

export interface YamlSource {
  readonly documents: readonly SourceDocument[];
  /** Why it cannot be read as a whole. */
  readonly findings: readonly Finding[];
}

/** Reads all documents. Never throws. */
export function readYaml(text: string, file: string): YamlSource {
  const lines = new LineCounter();
  const finding = (line: number, message: string): YamlSource => ({
    documents: [],
    findings: [{ file, line, path: '', message }],
  });
  if (text.includes('\0')) return finding(1, 'is not text');
  try {
    const documents = parseAllDocuments(text, {
      lineCounter: lines,
      merge: true,
      prettyErrors: false,
      logLevel: 'silent',
    });
    if (!Array.isArray(documents)) return { documents: [], findings: [] };
    const [error] = documents.flatMap(({ errors }) => errors);
    if (error !== undefined) {
      return finding(lines.linePos(error.pos[0]).line, describeYamlFailure(error.message));
    }
    return {
      documents: documents.map(document => ({
        value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown,
        lineOf: path => placeOf(file, document, lines, path).line,
        textLineOf: path => textLine(document, lines, path),
      })),
      findings: [],
    };
  } catch (error) {
    return finding(1, describeYamlFailure(messageOf(error)));
  }
}

/** Text in a block begins in the line after its `|` or `>`. */
function textLine(document: Document, lines: LineCounter, path: Path): number {
  let node: unknown = document.contents;
  for (const key of path) {
    node = isMap(node) ? node.items.find(pair => isScalar(pair.key) && pair.key.value === key)?.value : undefined;
  }
  if (!isScalar(node) || node.range === null || node.range === undefined) return 1;
  const { line } = lines.linePos(node.range[0]);
  return node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED ? line + 1 : line;
}
