/** How answers are written: encoding, headers, warnings. */
import type { ServerResponse } from 'node:http';
import { stringify } from 'yaml';
import type { Status } from '../types.ts';
import type { Encoding } from './accept.ts';

export interface Answer {
  readonly code: number;
  readonly body: unknown;
  readonly encoding?: Encoding;
  /** Type of a body that is text or bytes, which are sent as they are. */
  readonly contentType?: string;
  readonly warnings?: readonly string[];
  readonly pretty?: boolean;
}

/** The answer that carries a `Status`. */
export function statusAnswer(status: Status): Answer {
  return { code: status.code, body: status };
}

/** A `Warning` header value (RFC 7234 code 299, no agent), as kube-apiserver sends for people to read. */
function warningHeader(text: string): string {
  const printable = text.replaceAll(/[^\x20-\x7e]+/g, ' ').trim();
  return `299 - "${printable.replaceAll(/["\\]/g, '\\$&')}"`;
}

function retryAfterOf(body: unknown): number | undefined {
  if (typeof body !== 'object' || body === null || !('details' in body)) return undefined;
  const { details } = body;
  if (typeof details !== 'object' || details === null || !('retryAfterSeconds' in details)) return undefined;
  return typeof details.retryAfterSeconds === 'number' ? details.retryAfterSeconds : undefined;
}

function encode(answer: Answer): { type: string; text: string | Buffer } {
  if (Buffer.isBuffer(answer.body))
    return { type: answer.contentType ?? 'application/octet-stream', text: answer.body };
  if (typeof answer.body === 'string')
    return { type: answer.contentType ?? 'text/plain; charset=utf-8', text: answer.body };
  if (answer.encoding === 'yaml')
    return { type: 'application/yaml', text: stringify(answer.body, { aliasDuplicateObjects: false }) };
  const text = JSON.stringify(answer.body, null, answer.pretty === true ? 2 : undefined);
  return { type: answer.contentType ?? 'application/json', text: `${text}\n` };
}

/** Sends an answer; a `Status` with `retryAfterSeconds` gets the header that clients wait by. */
export function send(response: ServerResponse, answer: Answer): void {
  const { type, text } = encode(answer);
  const retryAfter = retryAfterOf(answer.body);
  response.writeHead(answer.code, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-cache, private',
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(Math.max(1, retryAfter)) }),
    ...(answer.warnings === undefined || answer.warnings.length === 0
      ? {}
      : { Warning: answer.warnings.map(warningHeader) }),
  });
  response.end(text);
}
