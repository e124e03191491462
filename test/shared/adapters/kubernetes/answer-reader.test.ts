import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerReader } from '../../../../shared/adapters/kubernetes/answer-reader.ts';

/** Reads the text in pieces that end at these places. */
function readIn(text: string, ...ends: readonly number[]) {
  const bytes = Buffer.from(text);
  const reader = new AnswerReader();
  let start = 0;
  for (const end of [...ends, bytes.length]) {
    if (end <= start) continue;
    const answer = reader.read(bytes.subarray(start, end));
    if (answer !== undefined) return { answer, keptSeconds: reader.keptSeconds, atEnd: end === bytes.length };
    start = end;
  }
  return { answer: reader.end(), keptSeconds: reader.keptSeconds, atEnd: true };
}

const OK = 'HTTP/1.1 200 OK\r\n';
const ANSWERS = [
  { name: 'a length', text: `${OK}Content-Length: 5\r\n\r\nhällo`.replace('5', '6'), status: 200, body: 'hällo' },
  { name: 'no body', text: 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n', status: 404, body: '' },
  {
    name: 'chunks',
    text: `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n`,
    body: 'abc0123456789',
  },
  {
    name: 'chunks and trailers',
    text: `${OK}transfer-encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nx: 1\r\ny: 2\r\n\r\n`,
    body: 'a',
  },
  {
    name: 'line breaks inside a chunk',
    text: `${OK}transfer-encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n`,
    body: '\r\n\r\n',
  },
  { name: 'neither, and no reason', text: 'HTTP/1.1 204\r\nx: \r\n\r\n', status: 204, body: '' },
  {
    name: 'another answer on its way',
    text: `HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${OK}content-length: 1\r\n\r\na`,
    body: 'a',
  },
];
const LASTING = [
  { says: 'nothing', head: '', keptSeconds: Infinity },
  { says: 'for how long', head: 'Keep-Alive: timeout=5, max=100\r\n', keptSeconds: 5 },
  { says: 'that it closes', head: 'Connection: Close\r\nKeep-Alive: timeout=5\r\n', keptSeconds: 0 },
];
const MALFORMED = [
  ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
  ['another version', 'HTTP/2 200\r\n\r\n'],
  ['no status', 'HTTP/1.1 OK\r\n\r\n'],
  ['a folded header', `${OK}a: b\r\n c\r\n\r\n`],
  ['two lengths', `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
  ['a negative length', `${OK}content-length: -1\r\n\r\n`],
  ['a length beside chunks', `${OK}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`],
  ['another encoding', `${OK}transfer-encoding: gzip\r\n\r\n`],
  ['a chunk without size', `${OK}transfer-encoding: chunked\r\n\r\nx\r\n`],
  ['a chunk that is longer than it says', `${OK}transfer-encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n`],
  ['more than its length', `${OK}content-length: 1\r\n\r\nabc`],
  ['more than its chunks', `${OK}transfer-encoding: chunked\r\n\r\n0\r\n\r\nabc`],
  ['an endless head', `${OK}a: ${'b'.repeat(70_000)}`],
] as const;

describe('answer', () => {
  it.each(ANSWERS)('is read by $name, wherever the bytes are cut', ({ text, status = 200, body }) => {
    const size = Buffer.byteLength(text);
    for (let first = 0; first < size; first += 1) {
      expect(readIn(text, first)).toMatchObject({ answer: { status, body }, atEnd: true });
    }
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(size)), cuts => {
        expect(readIn(text, ...cuts.toSorted((a, b) => a - b))).toMatchObject({
          answer: { status, body },
          atEnd: true,
        });
      }),
    );
  });

  it('ends with its connection where it says no length, and not before', () => {
    expect(readIn(`${OK}\r\nabc`)).toEqual({ answer: { status: 200, body: 'abc' }, keptSeconds: 0, atEnd: true });
    expect(readIn(`${OK}content-length: 4\r\n\r\nabc`).answer).toBeUndefined();
    expect(readIn(`${OK}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`).answer).toBeUndefined();
    expect(readIn(OK).answer).toBeUndefined();
  });

  it('tells when to come again', () => {
    expect(readIn('HTTP/1.1 429 x\r\nRetry-After: 7\r\ncontent-length: 0\r\n\r\n').answer?.retryAfter).toBe('7');
  });

  it.each(LASTING)('tells how long its connection lasts when it says $says', ({ head, keptSeconds }) => {
    expect(readIn(`${OK}${head}content-length: 0\r\n\r\n`).keptSeconds).toBe(keptSeconds);
    expect(readIn(`HTTP/1.0 200 OK\r\n${head}content-length: 0\r\n\r\n`).keptSeconds).toBe(0);
  });

  it.each(MALFORMED)('is refused with %s', (_, text) => {
    expect(() => readIn(text)).toThrow(/the answer is no HTTP/);
  });
});
