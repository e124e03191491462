/** Where a field stands in the YAML of a policy: block style with an indent of two, as the trace has it. */

export interface YamlLine {
  readonly number: number;
  readonly text: string;
}

export const yamlLines = (text: string): readonly YamlLine[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line, index) => ({ number: index + 1, text: line }));

/** Numbers of the lines of a dotted path below `spec`, and of its parents; empty where it is not written. */
function linesOfPath(lines: readonly YamlLine[], path: string): readonly number[] {
  const keys = path.split('.').filter(Boolean);
  const found: number[] = [];
  let from = 0;
  let indent = -1;
  for (const key of keys) {
    const index = lines.findIndex(
      (line, at) =>
        at >= from && indentOf(line.text) > indent && line.text.trim().replace(/^- /, '').startsWith(`${key}:`),
    );
    if (index === -1) return [];
    // What is below another key of the same depth is not it.
    const left = lines.slice(from, index).some(({ text }) => text.trim() !== '' && indentOf(text) <= indent);
    const line = lines[index];
    if (left || line === undefined) return [];
    found.push(line.number);
    indent = indentOf(line.text);
    from = index + 1;
  }
  return found;
}

const indentOf = (text: string): number => text.length - text.trimStart().length;

/** Lines around those that decided; what lies between is left out. */
export function excerptOf(
  lines: readonly YamlLine[],
  paths: readonly string[],
): { readonly hits: ReadonlySet<number>; readonly shown: readonly (YamlLine | { readonly skipped: number })[] } {
  const hits = new Set<number>();
  const kept = new Set<number>();
  for (const path of paths) {
    const found = linesOfPath(lines, path);
    const last = found.at(-1);
    if (last === undefined) continue;
    hits.add(last);
    for (const number of found) kept.add(number);
    for (const near of [last - 1, last + 1]) if (near > 0 && near <= lines.length) kept.add(near);
  }
  const shown: (YamlLine | { skipped: number })[] = [];
  let skipped = 0;
  for (const line of lines) {
    if (kept.has(line.number)) {
      if (skipped > 0 && shown.length > 0) shown.push({ skipped });
      skipped = 0;
      shown.push(line);
    } else skipped += 1;
  }
  return { hits, shown };
}
