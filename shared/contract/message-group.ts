/**
 * The group of a message in an inbox: the NodePool that it is about, or else the object. Inboxes are standard queues, in which SQS lets
 * the messages of other groups pass one that has many: a storm in one pool does not delay the others. Nothing is decided by a group.
 */
import { readJson } from '../domain/json.ts';
import * as z from './zod.ts';
import { subjectSchema, type Subject } from './subject.ts';

/** The most characters that SQS takes. */
const MAX_LENGTH = 128;
const REFUSED = /[^!-~]/g;

const text = z.string().check(z.minLength(1));
const ofPool = z.object({ hints: z.object({ nodePool: text }) });
const ofObject = z.object({ subject: subjectSchema });
const ofNode = z.object({ nodeName: text });
const ofKey = z.union([z.object({ key: text }), z.object({ id: text })]);

/** @param detail of an envelope, whatever it is */
export function messageGroupOf(detail: unknown): string {
  const named = nameOf(detail).replace(REFUSED, '?');
  return named.length <= MAX_LENGTH ? named : named.slice(0, MAX_LENGTH);
}

/** @param body of a message, which may be anything */
export function messageGroupOfBody(body: string): string {
  const { data } = z.object({ detail: z.unknown() }).safeParse(readJson(body));
  return messageGroupOf(data?.detail);
}

const OTHER = 'other';

function nameOf(detail: unknown): string {
  const pool = ofPool.safeParse(detail).data?.hints.nodePool;
  if (pool !== undefined) return `NodePool/${pool}`;
  const subject = ofObject.safeParse(detail).data?.subject;
  if (subject !== undefined) return nameOfSubject(subject);
  const nodeName = ofNode.safeParse(detail).data?.nodeName;
  if (nodeName !== undefined) return `Node/${nodeName}`;
  const key = ofKey.safeParse(detail).data;
  return key === undefined ? OTHER : 'key' in key ? key.key : key.id;
}

const nameOfSubject = ({ kind, namespace, name }: Subject): string =>
  [kind, ...(namespace === undefined ? [] : [namespace]), name].join('/');
