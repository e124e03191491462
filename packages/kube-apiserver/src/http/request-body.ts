/** Request bodies: read with a bound, decoded by content type. */
import type { IncomingMessage } from 'node:http';
import { parseDocument, type Tags } from 'yaml';
import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { badRequest, unsupportedMediaType } from '../status-errors.ts';
import type { ApiStatusError } from '../types.ts';
import { bodyTooLarge } from './http-errors.ts';
import { decodeKubernetesProtobuf, NotUnderstood, protobufType } from './protobuf/decode.ts';
import { MalformedProtobuf } from './protobuf/wire.ts';

/** As in kube-apiserver. */
const maxBodyBytes = 3 * 1024 * 1024;
const objectTypes = ['application/json', 'application/yaml'];

/** The media type of a `Content-Type` header without its parameters; JSON when there is none. */
export function mediaTypeOf(contentType: string | undefined): string {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === '' ? 'application/json' : type;
}

/** A body as text, and what the text is: protobuf is turned into JSON on its way in. */
export interface RequestBody {
  readonly text: string;
  readonly contentType: string | undefined;
}

/** By its events: iterating over a stream costs a good part of a small request. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBodyBytes) chunks.push(chunk);
      else reject(bodyTooLarge(maxBodyBytes));
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
    request.once('close', () => {
      // An Error takes its stack when it is made, which costs more than to ask.
      if (!request.readableEnded) reject(new Error('the connection was closed'));
    });
  });
}

const NO_BYTES = Buffer.alloc(0);

/** Whether a request has a body at all: one without these headers ends with its head (RFC 9112 section 6.3). */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function protobufAsJson(bytes: Buffer): string {
  try {
    return JSON.stringify(decodeKubernetesProtobuf(bytes));
  } catch (error) {
    if (error instanceof NotUnderstood) throw unsupportedMediaType(error.message);
    if (error instanceof MalformedProtobuf) throw badRequest(`the body is not valid protobuf: ${error.message}`);
    throw error;
  }
}

/** Reads a whole body. Throws 413 above 3 MiB, and 400 or 415 for protobuf that cannot be read. */
export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const contentType = request.headers['content-type'];
  const bytes = hasBody(request) ? await readBytes(request) : NO_BYTES;
  if (bytes.length > 0 && mediaTypeOf(contentType) === protobufType) {
    return { text: protobufAsJson(bytes), contentType: 'application/json' };
  }
  return { text: bytes.toString('utf8'), contentType };
}

/** Clients apply JSON under the name of YAML; the YAML parser is an order of magnitude slower and reads the same from it. */
function parseJsonOrYaml(text: string): JsonValue {
  if (!text.trimStart().startsWith('{')) return parseYaml(text);
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return parseYaml(text);
  }
}

/** 415 that names what is accepted, so that a client can fall back. */
export function unsupportedBody(sent: string, accepted: readonly string[]): ApiStatusError {
  return unsupportedMediaType(
    `the body of the request was in an unknown format (${sent}) - accepted media types include: ${accepted.join(', ')}`,
  );
}

function parseJson(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch (error) {
    throw badRequest(`the body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * YAML 1.1 as sigs.k8s.io/yaml reads it (`yes` is a boolean, `0777` is octal), which leaves timestamps and numbers in base 60
 * (`1:30`) as the text they are.
 */
const tagsOfKubernetes = (tags: Tags): Tags =>
  tags.filter(tag => typeof tag === 'string' || (tag.tag !== 'tag:yaml.org,2002:timestamp' && tag.format !== 'TIME'));

function parseYaml(text: string): JsonValue {
  const options = { uniqueKeys: false, version: '1.1', schema: 'yaml-1.1', merge: true } as const;
  const document = parseDocument(text, { ...options, customTags: tagsOfKubernetes });
  const [error] = document.errors;
  if (error !== undefined) throw badRequest(`the body is not valid YAML: ${error.message}`);
  return parseJson(JSON.stringify(document.toJS() ?? null));
}

/** One JSON value out of a body in JSON or YAML. Throws 400 when it is not, 415 for any other content type (protobuf, CBOR). */
function decodeBody(text: string, contentType: string | undefined): JsonValue {
  const type = mediaTypeOf(contentType);
  if (type === 'application/json') return parseJson(text);
  if (type === 'application/yaml') return parseYaml(text);
  throw unsupportedBody(type, objectTypes);
}

/** As `decodeBody`, and the value is an object. */
export function decodeObject(text: string, contentType: string | undefined): JsonObject {
  const value = decodeBody(text, contentType);
  if (!isObject(value)) throw badRequest('the body is not an object');
  return value;
}

/** An object in YAML, of which JSON is a part: server-side apply. */
export function decodeApply(text: string): JsonObject {
  const value = parseJsonOrYaml(text);
  if (!isObject(value)) throw badRequest('the body is not an object');
  return value;
}

/** The operations of a JSON patch. */
export function decodeOperations(text: string): readonly JsonObject[] {
  const value = parseJson(text);
  if (!Array.isArray(value)) throw badRequest('a JSON patch is a list of operations');
  const operations: JsonObject[] = [];
  for (const operation of value) {
    if (!isObject(operation)) throw badRequest('a JSON patch is a list of operations');
    operations.push(operation);
  }
  return operations;
}
