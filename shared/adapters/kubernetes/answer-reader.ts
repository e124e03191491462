/** Reads one HTTP/1.1 answer out of the bytes of a connection (RFC 9112). What is not plainly well-formed is refused, not guessed. */
import { toText } from './read-body.ts';

export interface Answer {
  readonly status: number;
  readonly retryAfter?: string;
  readonly body: string;
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** Of the body, in bytes; what it ends with where that is not known before. */
  readonly length: number | 'chunked' | 'close';
}

const MAX_HEAD_BYTES = 64 * 1024;
const HEAD_END = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: |$)/;
const HEADER = /^([\w!#$%&'*+.^`|~-]+):[\t ]*(.*?)[\t ]*$/;

export class AnswerReader {
  /** Once there is an answer: how long the server keeps the connection, as far as it says so; 0: it closes it. */
  keptSeconds = 0;
  #bytes: Buffer = Buffer.alloc(0);
  /** Pieces of a body whose length was said before. */
  #rest: Buffer[] = [];
  #missing = 0;
  #head: Head | undefined;
  /** Where the next chunk begins, and what the chunks before it held. */
  #position = 0;
  readonly #chunks: Buffer[] = [];

  /** The answer, once its last byte is there. Throws for bytes that are no answer, or follow one. */
  read(chunk: Buffer): Answer | undefined {
    if (this.#missing > 0) {
      this.#rest.push(chunk);
      this.#missing -= chunk.length;
      return this.#missing > 0 ? undefined : this.#complete(this.#rest);
    }
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    while (this.#head === undefined) {
      const end = this.#bytes.indexOf(HEAD_END);
      if (end > MAX_HEAD_BYTES || (end < 0 && this.#bytes.length > MAX_HEAD_BYTES)) throw malformed('a long head');
      if (end < 0) return undefined;
      const head = parseHead(this.#bytes.toString('latin1', 0, end));
      this.#bytes = this.#bytes.subarray(end + HEAD_END.length);
      // 1xx: the answer is still to come.
      if (head.status >= 200) this.#head = head;
    }
    const { length } = this.#head;
    if (length === 'chunked') return this.#readChunks() ? this.#complete(this.#chunks) : undefined;
    if (length === 'close') return undefined;
    this.#missing = length - this.#bytes.length;
    if (this.#missing <= 0) return this.#complete([this.#bytes]);
    this.#rest = [this.#bytes];
    return undefined;
  }

  /** The connection was closed: the answer, where this is how its body ends. */
  end(): Answer | undefined {
    return this.#head?.length === 'close' ? this.#complete([this.#bytes]) : undefined;
  }

  #complete(body: readonly Buffer[]): Answer {
    if (this.#head === undefined || this.#missing < 0) throw malformed('bytes after its end');
    const { status, headers, length } = this.#head;
    const retryAfter = headers.get('retry-after');
    const kept = /(?:^|[ ,])timeout=(\d+)/.exec(headers.get('keep-alive') ?? '')?.[1];
    const closes = length === 'close' || /(?:^|[ ,])close(?:$|[ ,])/i.test(headers.get('connection') ?? '');
    this.keptSeconds = closes ? 0 : kept === undefined ? Infinity : Number(kept);
    return { status, ...(retryAfter !== undefined && { retryAfter }), body: toText(body) };
  }

  /** Whether all chunks are there. */
  #readChunks(): boolean {
    for (;;) {
      const lineEnd = this.#bytes.indexOf('\r\n', this.#position);
      if (lineEnd < 0) return false;
      const size = /^([\da-f]{1,8})[\t ]*(?:;|$)/i.exec(this.#bytes.toString('latin1', this.#position, lineEnd))?.[1];
      if (size === undefined) throw malformed('a chunk without its size');
      const start = lineEnd + 2;
      const end = start + Number.parseInt(size, 16);
      if (end === start) return this.#readTrailers(lineEnd);
      if (this.#bytes.length < end + 2) return false;
      if (this.#bytes.toString('latin1', end, end + 2) !== '\r\n') throw malformed('a chunk of another size');
      this.#chunks.push(this.#bytes.subarray(start, end));
      this.#position = end + 2;
    }
  }

  /** Fields after the last chunk say nothing to us. */
  #readTrailers(lineEnd: number): boolean {
    const end = this.#bytes.indexOf(HEAD_END, lineEnd);
    if (end < 0) return false;
    this.#missing = end + HEAD_END.length - this.#bytes.length;
    return true;
  }
}

function parseHead(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n');
  const [, minor, code] = STATUS_LINE.exec(first) ?? [];
  if (code === undefined) throw malformed('another protocol');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) throw malformed('a line that is no header');
    const before = headers.get(name.toLowerCase());
    headers.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
  }
  const status = Number(code);
  if (minor === '0') headers.set('connection', 'close');
  return { status, headers, length: lengthOf(status, headers) };
}

function lengthOf(status: number, headers: ReadonlyMap<string, string>): Head['length'] {
  if (status < 200 || status === 204 || status === 304) return 0;
  const encoding = headers.get('transfer-encoding');
  const length = headers.get('content-length');
  if (encoding !== undefined) {
    if (encoding.toLowerCase() !== 'chunked' || length !== undefined) throw malformed('an unknown length');
    return 'chunked';
  }
  if (length === undefined) return 'close';
  if (!/^\d{1,15}$/.test(length)) throw malformed('an unknown length');
  return Number(length);
}

function malformed(how: string): Error {
  return Object.assign(new Error(`the answer is no HTTP: it has ${how}`), { code: 'MalformedAnswer' });
}
