/**
 * What the text of a watch event says without being parsed. Most events of a large cluster are heartbeats and pods that no function
 * asks about. Pure; only the tracker uses it, and the watch sees one predicate (`Tracker.skips`).
 *
 * Measured (Node 24, one busy core): an event about a node of 16 kB costs 31 µs in place of 137 µs, one about a pod of 4 kB 5 µs in
 * place of 17 µs. 10,000 nodes and 100,000 pods send some hundred of them a second.
 *
 * Sound on one side only: an event may be read unnecessarily, but a skipped one is known to change nothing.
 */
import { hash } from 'node:crypto';
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { listAt, textAt } from './fields.ts';

/** How events of a resource can be told to be of no interest by their text. */
export type Unread =
  /** The object in it is a tracked one as it was last seen, but for fields that no projection has. */
  | { readonly kind: 'heartbeat'; readonly unprojected: RegExp }
  /**
   * The text lacks what every object of interest has in it, and is about no tracked object; or it is about one that is of no interest
   * of its own, and either tells nothing new, or a state in which only the end is awaited.
   */
  | {
      readonly kind: 'unmarked';
      readonly mark: string;
      /** What of the object in an event's text can be news; undefined: the text does not say for sure. */
      readonly keyOfEvent: (text: string) => string | undefined;
      /** The same of an object that was read. */
      readonly keyOfObject: (object: KubernetesObject) => string;
      readonly awaitsEnd: (text: string) => boolean;
    };

/** How an event begins that tells what an object is like now; a `DELETED` one, with the same object in it, must always be read. */
const TELLS_STATE = /^\{"type":"(?:ADDED|MODIFIED)","object":/;
const TELLS_REMOVAL = '{"type":"DELETED","object":';
/** What an item of a list does not have, or has in another order. */
const KIND_IN_FRONT = /^\{(?:"(?:apiVersion|kind)":"[^"]*",)*/;

/** A number of this name stands in an object that is being deleted, and nowhere else: what users write into labels and annotations is text. */
const DELETION_GRACE_PERIOD = /"deletionGracePeriodSeconds"\s*:\s*\d/;
/** More than the phases of pods that have ended, so that none of them is missed. */
const ENDED = /"(?:Succeeded|Failed)"/;

/** Whether the event tells that its object is gone. */
export const tellsOfRemoval = (text: string): boolean => text.startsWith(TELLS_REMOVAL);

/** Whether the event tells of a pod that is being deleted and has not ended: who empties its node waits until it has, or is gone. */
export function tellsOfGoingPod(text: string): boolean {
  return DELETION_GRACE_PERIOD.test(text) && TELLS_STATE.test(text) && !ENDED.test(text);
}

const PHASE = '"phase":"';
const START_TIME = '"startTime":"';
const STATUS = '"status":"';
const READY = '"type":"Ready"';
const READY_CONDITION = /\{[^{}]*"type":"Ready"[^{}]*\}/;

/**
 * What can change of a pod on a watched node: phase, readiness and start. Undefined where a text has one of these words twice, as in a
 * label, or no phase: it has to be read then. Quotes within texts of users are escaped, so that none of these words is found in them.
 */
export function podKeyOfEvent(text: string): string | undefined {
  if (!TELLS_STATE.test(text)) return undefined;
  const phase = onlyValue(text, PHASE);
  const startTime = onlyValue(text, START_TIME);
  const ready = text.includes(READY) ? readyIn(text) : '';
  if (phase === undefined || phase === '' || startTime === undefined || ready === undefined) return undefined;
  return podKey(phase, startTime, ready);
}

function readyIn(text: string): string | undefined {
  if (text.indexOf(READY) !== text.lastIndexOf(READY)) return undefined;
  const condition = READY_CONDITION.exec(text)?.[0];
  return condition === undefined ? undefined : onlyValue(condition, STATUS);
}

/** The same of a pod that was read. */
export function podKeyOfObject({ status }: KubernetesObject): string {
  const ready = listAt(status, 'conditions').find(condition => textAt(condition, 'type') === 'Ready');
  return podKey(textAt(status, 'phase') ?? '', textAt(status, 'startTime') ?? '', textAt(ready, 'status') ?? '');
}

const podKey = (phase: string, startTime: string, ready: string): string => `${phase} ${startTime} ${ready}`;

/** What follows this start of a field; the empty text where there is none, undefined where there are several. */
function onlyValue(text: string, start: string): string | undefined {
  const at = text.indexOf(start);
  if (at < 0) return '';
  const from = at + start.length;
  return text.includes(start, from) ? undefined : text.slice(from, text.indexOf('"', from));
}

/**
 * Key of the object in an event's text without the fields that `unprojected` (global) matches: 16 characters, 96 bits. Undefined for
 * an event that does not tell an object's state.
 */
export function keyOfEvent(text: string, unprojected: RegExp): string | undefined {
  const [start] = TELLS_STATE.exec(text) ?? [];
  return start === undefined ? undefined : keyOf(text.slice(start.length), unprojected);
}

/** The same key for an object that was read. JSON written in another way gives another key: the event is read unnecessarily. */
export function keyOfObject(object: KubernetesObject, unprojected: RegExp): string {
  return keyOf(JSON.stringify(object).replaceAll(ESCAPED_BY_GO, escapeAsGo), unprojected);
}

/** The API server writes these characters as escapes, so that JSON is safe in HTML. */
const ESCAPED_BY_GO = /[<>&\u2028\u2029]/g;
const escapeAsGo = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

function keyOf(text: string, unprojected: RegExp): string {
  const [front = ''] = KIND_IN_FRONT.exec(text) ?? [];
  const object = text.slice(front.length, endOf(text)).replace(unprojected, '');
  return hash('sha1', object, 'base64url').slice(0, 16);
}

/** Where the closing brackets begin: an event has one more of them than an object. */
function endOf(text: string): number {
  let end = text.length;
  while (end > 0 && CLOSING.includes(text.charAt(end - 1))) end -= 1;
  return end;
}

const CLOSING = '} \t\r\n';

const UID = /"uid"\s*:\s*"([^"]*)"/g;
const FIRST_UID = /"uid"\s*:\s*"([^"]*)"/;

/** UID of the object in an event about a built-in kind, in which it stands before those of owners. Undefined in a bookmark. */
export function uidOf(text: string): string | undefined {
  return FIRST_UID.exec(text)?.[1];
}

/**
 * Whether the text is about none of the objects with these UIDs. False also where it names no UID at all: a bookmark or an error is
 * always read. UIDs of owners are in the text as well, so a text may count as being about an object that it only mentions.
 */
export function isAboutNone(text: string, uids: { has(uid: string): boolean }): boolean {
  let named = false;
  for (const [, uid = ''] of text.matchAll(UID)) {
    if (uids.has(uid)) return false;
    named = true;
  }
  return named;
}

const NODE_NAME = /"nodeName"\s*:\s*"([^"]*)"/g;

/** Whether the text names one of these nodes as a pod's; other fields of that name count as well. */
export function namesOneOf(text: string, nodes: { has(name: string): boolean }): boolean {
  for (const [, name = ''] of text.matchAll(NODE_NAME)) if (nodes.has(name)) return true;
  return false;
}
