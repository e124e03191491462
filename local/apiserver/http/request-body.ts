/** Request bodies: read with a bound, decoded by content type. */
import type { IncomingMessage } from 'node:http';
import { parseDocument } from 'yaml';
import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { badRequest, unsupportedMediaType } from '../status-errors.ts';
import type { ApiStatusError } from '../types.ts';
import { bodyTooLarge } from './http-errors.ts';

/** As in kube-apiserver. */
const maxBodyBytes = 3 * 1024 * 1024;
const objectTypes = ['application/json', 'application/yaml'];

/** The media type of a `Content-Type` header without its parameters; JSON when there is none. */
export function mediaTypeOf(contentType: string | undefined): string {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === '' ? 'application/json' : type;
}

/** Reads a whole body as text. Throws 413 above 3 MiB. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += buffer.length;
    if (bytes > maxBodyBytes) throw bodyTooLarge(maxBodyBytes);
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
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

function parseYaml(text: string): JsonValue {
  // YAML 1.1 is what sigs.k8s.io/yaml reads: `yes`, `0777` and `!!binary` mean what manifests' authors saw them mean.
  const document = parseDocument(text, { uniqueKeys: false, version: '1.1', schema: 'yaml-1.1', merge: true });
  const [error] = document.errors;
  if (error !== undefined) throw badRequest(`the body is not valid YAML: ${error.message}`);
  return parseJson(JSON.stringify(document.toJS() ?? null));
}

/** One JSON value out of a body in JSON or YAML. Throws 400 when it is not, 415 for any other content type (protobuf, CBOR). */
export function decodeBody(text: string, contentType: string | undefined): JsonValue {
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
  const value = parseYaml(text);
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
