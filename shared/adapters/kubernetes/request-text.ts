/** A request as HTTP/1.1 writes it. */

/** What would begin another line, or cannot stand in one. */
const NOT_IN_PATH = /[^\x21-\x7e]/;
const NOT_IN_HEADER = /[^\t\x20-\x7e]/;

export interface RequestHead {
  readonly method?: string | undefined;
  readonly path?: string | null | undefined;
  /** Names and values in turns. */
  readonly headers: readonly string[];
}

/** Throws `TypeError` for characters that a head must not hold. */
export function requestText({ method = 'GET', path, headers }: RequestHead, body: string | undefined): string {
  if (NOT_IN_PATH.test(path ?? '')) throw new TypeError(`not the path of a request: ${JSON.stringify(path)}`);
  let text = `${method} ${path} HTTP/1.1\r\n`;
  for (let index = 0; index < headers.length; index += 2) {
    const value = headers[index + 1] ?? '';
    if (NOT_IN_HEADER.test(value)) throw new TypeError(`not the value of a header: ${headers[index]}`);
    text += `${headers[index]}: ${value}\r\n`;
  }
  return `${text}\r\n${body ?? ''}`;
}
