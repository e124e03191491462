/**
 * A watch over HTTP: one JSON line an event, until the time-out, the client's end, an ERROR event, or more unsent bytes than
 * a slow client is allowed (its connection is then cut, and it lists and watches anew).
 */
import type { ServerResponse } from 'node:http';
import { apiVersionOf } from '../kubernetes-object.ts';
import { ApiStatusError, type ApiServerCore, type Status, type WatchEvent, type WatchOptions } from '../types.ts';
import { objectText } from './json-text.ts';
import type { Shape } from './shape.ts';
import { shapeObject } from './shape.ts';
import type { Timers } from './timers.ts';

export interface WatchSettings {
  readonly timers: Timers;
  /** Unsent bytes, beyond the initial events, at which a watch is cut. */
  readonly maxUnsentBytes: number;
  readonly timeoutSeconds: number;
  readonly now: () => number;
  /** The running watches; a watch is in it from its start to its end. */
  readonly running: Set<WatchStream>;
}

/** A running watch, for those who end it from outside. */
export interface WatchStream {
  /** Cuts the connection, as a broken network would. */
  drop(): void;
}

/** The first event goes out at once. One that follows sooner waits for more: each piece costs both ends far more than an event. */
const FLUSH_SPACING_MS = 5;

type StreamedEvent = { readonly type: string; readonly object: unknown };

/** Bookmarks go through the same shape as objects: a Table without rows, or metadata. */
function shapeBookmark(object: object, shape: Shape, noHeaders: boolean): unknown {
  if (shape.representation.as !== 'Table') return object;
  const metadata = 'metadata' in object ? object.metadata : {};
  const columnDefinitions = noHeaders ? null : [];
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${shape.representation.metaVersion ?? 'v1'}`,
    metadata,
    columnDefinitions,
    rows: [],
  };
}

/**
 * Starts a watch and writes it to `response`. A version that is too old becomes an ERROR event, as kube-apiserver answers once
 * a request is past validation; other refusals are thrown before anything is written.
 */
export function streamWatch(
  core: ApiServerCore,
  response: ServerResponse,
  { shape, options }: { readonly shape: Shape; readonly options: WatchOptions },
  settings: WatchSettings,
): void {
  let noHeaders = false;
  let unsentLimit = Number.POSITIVE_INFINITY;
  let ended = false;
  let watch: { stop(): void } | undefined;

  const open = (): void => {
    if (response.headersSent) return;
    response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' });
    response.flushHeaders();
  };
  const end = (): void => {
    if (ended) return;
    ended = true;
    watch?.stop();
    timeout.cancel();
    settings.running.delete(stream);
  };
  const bursts = createBursts(response);
  const finish = (): void => {
    end();
    bursts.flush();
    response.end();
  };
  const drop = (): void => {
    end();
    response.destroy();
  };
  const stream: WatchStream = { drop };
  const writeLine = (line: string): void => {
    if (ended) return;
    open();
    bursts.write(`${line}\n`);
    if (bursts.unsent() > unsentLimit) drop();
  };
  const write = (event: StreamedEvent): void => writeLine(JSON.stringify(event));
  const deliver = (event: WatchEvent): void => {
    switch (event.type) {
      case 'ERROR':
        write(event);
        finish();
        return;
      case 'BOOKMARK':
        write({ type: event.type, object: shapeBookmark(event.object, shape, noHeaders) });
        return;
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        if (shape.representation.as === undefined) {
          writeLine(`{"type":"${event.type}","object":${objectText(event.object)}}`);
          return;
        }
        write({ type: event.type, object: shapeObject(event.object, { ...shape, now: settings.now() }, noHeaders) });
        noHeaders = true;
        return;
    }
  };

  const timeout = settings.timers.after(settings.timeoutSeconds * 1_000, () => {
    if (options.allowWatchBookmarks === true) deliver({ type: 'BOOKMARK', object: bookmarkAt(core, shape) });
    finish();
  });
  response.on('close', end);
  settings.running.add(stream);
  try {
    watch = core.watch(shape.resource, options, deliver);
  } catch (error) {
    if (error instanceof ApiStatusError && error.status.code === 410) {
      deliver({ type: 'ERROR', object: error.status satisfies Status });
      return;
    }
    end();
    throw error;
  }
  if (ended) watch.stop();
  else open();
  unsentLimit = bursts.unsent() + settings.maxUnsentBytes;
}

/** Writes to a connection soon. */
interface Bursts {
  write(text: string): void;
  /** At once what was written and has not gone out. */
  flush(): void;
  /** Bytes that the client has not taken; characters of what has not gone out. */
  unsent(): number;
}

/** What is written in one turn of the event loop goes out as one text, and what is written in a burst as a few: each write costs more than an event. */
function createBursts(response: ServerResponse): Bursts {
  let unwritten = '';
  let flushTime = Number.NEGATIVE_INFINITY;
  const flush = (): void => {
    const text = unwritten;
    unwritten = '';
    // A connection that is gone takes nothing more.
    if (text === '' || response.destroyed) return;
    response.write(text);
    flushTime = performance.now();
  };
  return {
    write(text) {
      if (unwritten === '') {
        const left = flushTime + FLUSH_SPACING_MS - performance.now();
        if (left > 0) setTimeout(flush, left);
        else setImmediate(flush);
      }
      unwritten += text;
    },
    flush,
    unsent: () => response.writableLength + unwritten.length,
  };
}

/** A bookmark at the current version, for the end of a watch: events are delivered synchronously, so none is outstanding. */
function bookmarkAt(
  core: ApiServerCore,
  { resource }: Shape,
): { kind: string; apiVersion: string; metadata: { resourceVersion: string } } {
  return {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: { resourceVersion: core.resourceVersion },
  };
}
