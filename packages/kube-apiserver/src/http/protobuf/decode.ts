/** Kubernetes' protobuf bodies as JSON: the envelope, then the message by the table of `messages.ts`. */
import { setField } from '../../json.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { messages, type FieldRule } from './messages.ts';
import { MalformedProtobuf, readFields, type WireField } from './wire.ts';

export const protobufType = 'application/vnd.kubernetes.protobuf';

/** What precedes every protobuf body of Kubernetes. */
const prefix = Buffer.from('k8s\0');

/** A valid body that says something which this server does not read as protobuf. Clients can send it as JSON. */
export class NotUnderstood extends Error {
  constructor(what: string, why?: string) {
    super(why ?? `${what} is not understood as protobuf; send it as JSON`);
    this.name = 'NotUnderstood';
  }
}

const DEBUG =
  'no container runs in the embedded API server: there is nothing to debug with, and a Pod is read as JSON or YAML only';

function bytesOf({ number, value }: WireField): Uint8Array {
  if (typeof value !== 'bigint') return value;
  throw new MalformedProtobuf(`field ${number} is a number`);
}

function numberOf({ number, value }: WireField): bigint {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value);
  throw new MalformedProtobuf(`field ${number} is not a number`);
}

function textOf(field: WireField): string {
  return Buffer.from(bytesOf(field)).toString('utf8');
}

function isZero({ value }: WireField): boolean {
  return typeof value === 'bigint' ? value === 0n : value.length === 0;
}

function timeOf(field: WireField, fractionDigits: 0 | 6): string {
  let seconds = 0n;
  let nanos = 0n;
  for (const part of readFields(bytesOf(field))) {
    if (part.number === 1) seconds = numberOf(part);
    else if (part.number === 2) nanos = numberOf(part);
  }
  const date = new Date(Number(seconds) * 1_000);
  if (Number.isNaN(date.getTime())) throw new MalformedProtobuf('a time is out of range');
  const whole = date.toISOString().slice(0, 19);
  return fractionDigits === 0 ? `${whole}Z` : `${whole}.${String(nanos / 1_000n).padStart(6, '0')}Z`;
}

function intOrStringOf(field: WireField): number | string {
  let isText = false;
  let number = 0;
  let text = '';
  for (const part of readFields(bytesOf(field))) {
    if (part.number === 1) isText = numberOf(part) === 1n;
    else if (part.number === 2) number = Number(numberOf(part));
    else if (part.number === 3) text = textOf(part);
  }
  return isText ? text : number;
}

function quantityOf(field: WireField): string {
  const text = readFields(bytesOf(field)).find(part => part.number === 1);
  return text === undefined ? '0' : textOf(text);
}

function valueOf(type: string, field: WireField): JsonValue {
  switch (type) {
    case 'string':
      return textOf(field);
    case 'int':
      return Number(numberOf(field));
    case 'bool':
      return numberOf(field) !== 0n;
    case 'bytes':
      return Buffer.from(bytesOf(field)).toString('base64');
    case 'Time':
      return timeOf(field, 0);
    case 'MicroTime':
      return timeOf(field, 6);
    case 'IntOrString':
      return intOrStringOf(field);
    case 'Quantity':
      return quantityOf(field);
    default:
      return messageOf(type, bytesOf(field));
  }
}

function isZeroValue(value: JsonValue): boolean {
  return (
    value === '' ||
    value === 0 ||
    value === false ||
    (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
  );
}

function readSingle(target: Record<string, JsonValue>, rule: FieldRule, field: WireField): void {
  // An absent time is an empty message, and must not become the year 1970.
  if (!rule.keepsZero && isZero(field)) return;
  const value = valueOf(rule.type, field);
  if (rule.keepsZero || !isZeroValue(value)) target[rule.name] = value;
}

/** Entries of maps are messages of key and value; either is absent when it is zero. */
function readEntry(target: Record<string, JsonValue>, rule: FieldRule, field: WireField): void {
  const entry = readFields(bytesOf(field));
  const key = entry.find(part => part.number === 1);
  const value = entry.find(part => part.number === 2) ?? { number: 2, value: new Uint8Array() };
  setField(target, key === undefined ? '' : textOf(key), valueOf(rule.type, value));
}

function messageOf(name: string, bytes: Uint8Array): JsonObject {
  const rules = messages.get(name);
  if (rules === undefined) throw new NotUnderstood(name);
  const decoded: Record<string, JsonValue> = {};
  const lists = new Map<string, JsonValue[]>();
  const maps = new Map<string, Record<string, JsonValue>>();
  for (const field of readFields(bytes)) {
    const rule = rules.get(field.number);
    if (rule === undefined) {
      if (isZero(field)) continue;
      throw new NotUnderstood(`field ${field.number} of ${name}`);
    }
    if (rule.shape === 'single') {
      readSingle(decoded, rule, field);
    } else if (rule.shape === 'list') {
      const list = lists.get(rule.name) ?? [];
      lists.set(rule.name, list);
      list.push(valueOf(rule.type, field));
    } else {
      const map = maps.get(rule.name) ?? {};
      maps.set(rule.name, map);
      readEntry(map, rule, field);
    }
  }
  return { ...decoded, ...Object.fromEntries(lists), ...Object.fromEntries(maps) };
}

/**
 * The object in a body of type `application/vnd.kubernetes.protobuf`.
 * @throws MalformedProtobuf for what is no such body, NotUnderstood for a kind or a field that is not in the table
 */
export function decodeKubernetesProtobuf(body: Uint8Array): JsonObject {
  if (!prefix.equals(body.subarray(0, prefix.length))) throw new MalformedProtobuf('the prefix "k8s" is missing');
  let apiVersion = '';
  let kind = '';
  let raw = new Uint8Array();
  for (const field of readFields(body.subarray(prefix.length))) {
    if (field.number === 2) raw = new Uint8Array(bytesOf(field));
    if (field.number !== 1) continue;
    for (const part of readFields(bytesOf(field))) {
      if (part.number === 1) apiVersion = textOf(part);
      else if (part.number === 2) kind = textOf(part);
    }
  }
  // Of kubectl's commands `debug` alone sends one.
  if (kind === 'Pod') throw new NotUnderstood(kind, DEBUG);
  return { apiVersion, kind, ...messageOf(kind, raw) };
}
