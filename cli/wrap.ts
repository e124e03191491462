/** Long lines for a terminal: broken between words, what follows indented below its own line. Elsewhere lines stay as they are. */

/** The indent of the lines that continue a wrapped one. */
const HANG = 2;
/** Narrower, and every word would have its own line. */
const LEAST_WIDTH = 20;

/** @param width columns; undefined: no terminal, nothing is broken */
export function wrapLines(text: string, width: number | undefined): string {
  return width === undefined || width < LEAST_WIDTH
    ? text
    : text
        .split('\n')
        .map(line => wrapLine(line, width))
        .join('\n');
}

function wrapLine(line: string, width: number): string {
  if (line.length <= width) return line;
  const indent = /^ */.exec(line)?.[0] ?? '';
  const hang = ' '.repeat(Math.min(indent.length + HANG, width / 2));
  const lines: string[] = [];
  let current = indent;
  for (const word of line.trim().split(/ +/)) {
    const isFirst = current.trim() === '';
    if (!isFirst && current.length + 1 + word.length > width) {
      lines.push(current);
      current = `${hang}${word}`;
    } else current += isFirst ? word : ` ${word}`;
  }
  return [...lines, current].join('\n');
}
