/**
 * Requests with short answers over kept connections of our own: most that the functions send. For each of them `node:http` makes two
 * streams and copies all options several times, which is two thirds of what such a request costs.
 */
import net from 'node:net';
import tls from 'node:tls';
import {
  addDuration,
  durationBetween,
  seconds,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../domain/time.ts';
import type { LimitClock, TimeLimit } from '../../ports/clock.ts';
import { AnswerReader, type Answer } from './answer-reader.ts';
import { ExchangeFailure } from './exchange.ts';

export interface ConnectionsOptions {
  readonly host: string;
  readonly port: number;
  /** Undefined: without TLS. */
  readonly tls: tls.ConnectionOptions | undefined;
  readonly clock: LimitClock;
  /** Until the TCP and TLS handshakes are done. */
  readonly connectTimeout: DurationMs;
  /** Until the answer is there. */
  readonly requestTimeout: DurationMs;
  /** A connection that was idle for longer is not used again. */
  readonly idleLife: DurationMs;
  /** Connections that a burst begins with; twice as many when requests wait for longer than `longWait`, up to `most`. */
  readonly first: number;
  readonly most: number;
  readonly longWait: DurationMs;
}

export interface Connections {
  /** Sends `text`, a whole request, as it stands. Throws `ExchangeFailure`, or the signal's reason. */
  ask(text: string, signal: AbortSignal | undefined): Promise<Answer>;
  /** Closes all connections. */
  close(): void;
}

interface Connection {
  readonly socket: net.Socket;
  /** The handshakes are done: what is written reaches the server. */
  established: boolean;
  /** Whether an answer has come over it. */
  used: boolean;
  /** Where it is idle: the end of its life. */
  until: EpochMs;
  question: Question | undefined;
}

interface Question {
  readonly text: string;
  readonly asked: EpochMs;
  readonly reader: AnswerReader;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
  readonly onAbort: () => void;
  requestLimit: TimeLimit | undefined;
  connectLimit: TimeLimit | undefined;
  connection: Connection | undefined;
}

/** Servers say in whole seconds how long they keep a connection; one that is about to be closed is not used again. */
const KEPT_MARGIN = seconds(1);

export function createConnections(options: ConnectionsOptions): Connections {
  const { clock } = options;
  const open = new Set<Connection>();
  const idle: Connection[] = [];
  const waiting: Question[] = [];
  let most = options.first;
  /** Spares the next connection half of its handshake. */
  let session: Buffer | undefined;

  const connect = (): Connection => {
    const { host, port } = options;
    const to = { host, port, noDelay: true };
    const servername = net.isIP(host) === 0 ? host : '';
    const socket = options.tls ? tls.connect({ servername, ...options.tls, ...to, session }) : net.connect(to);
    const connection: Connection = { socket, established: false, used: false, until: clock.now(), question: undefined };
    open.add(connection);
    socket.setKeepAlive(true, seconds(1));
    socket.on('session', (next: Buffer) => (session = next));
    socket.once(options.tls ? 'secureConnect' : 'connect', () => {
      connection.established = true;
      connection.question?.connectLimit?.lift();
      if (connection.question) socket.write(connection.question.text);
    });
    socket.on('data', chunk => onData(connection, chunk));
    socket.on('end', () => {
      settle(connection, reader => reader.end());
      socket.destroy();
    });
    socket.on('error', error => fail(connection.question, error));
    socket.once('close', () => {
      open.delete(connection);
      if (idle.includes(connection)) idle.splice(idle.indexOf(connection), 1);
      fail(connection.question, Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }));
      serveNext();
    });
    return connection;
  };

  const onData = (connection: Connection, chunk: Buffer): void => {
    // Nobody asked: the server is about to close it.
    if (connection.question === undefined) connection.socket.destroy();
    else settle(connection, reader => reader.read(chunk));
  };

  const settle = (connection: Connection, read: (reader: AnswerReader) => Answer | undefined): void => {
    const { question } = connection;
    if (question === undefined) return;
    try {
      const answer = read(question.reader);
      if (answer === undefined) return;
      forget(question);
      keep(connection, question.reader);
      question.resolve(answer);
      serveNext();
    } catch (error) {
      fail(question, error instanceof Error ? error : new Error(String(error)));
    }
  };

  const keep = (connection: Connection, { keptSeconds }: AnswerReader): void => {
    const life = Math.min(options.idleLife, keptSeconds * 1000 - KEPT_MARGIN);
    if (life <= 0) return void connection.socket.destroy();
    connection.used = true;
    connection.until = addDuration(clock.now(), toDurationMs(life));
    connection.socket.unref();
    idle.push(connection);
  };

  const forget = (question: Question): void => {
    question.requestLimit?.lift();
    question.connectLimit?.lift();
    question.signal?.removeEventListener('abort', question.onAbort);
    if (question.connection !== undefined) question.connection.question = undefined;
  };

  /** @param mayBeStale the server may have closed the connection before the question came */
  const fail = (question: Question | undefined, error: Error, mayBeStale = true): void => {
    if (question === undefined) return;
    forget(question);
    const { connection, signal } = question;
    const place = waiting.indexOf(question);
    if (place >= 0) waiting.splice(place, 1);
    connection?.socket.destroy();
    const sent = connection?.established ?? false;
    const stale = mayBeStale && (connection?.used ?? false);
    question.reject(signal?.aborted ? signal.reason : new ExchangeFailure(error, { sent, stale }));
  };

  const limit = (question: Question, duration: DurationMs, code: string): TimeLimit =>
    clock.startLimit(duration, () =>
      fail(question, Object.assign(new Error(`not done within ${duration} ms`), { code }), false),
    );

  const free = (now: EpochMs): Connection | undefined => {
    for (;;) {
      const connection = idle.pop();
      if (connection === undefined || (connection.until > now && connection.socket.writable)) return connection;
      connection.socket.destroy();
    }
  };

  const serveNext = (): void => {
    const question = waiting[0];
    if (question === undefined) return;
    const now = clock.now();
    const connection = free(now) ?? (open.size < most ? connect() : undefined);
    if (connection === undefined) return;
    waiting.shift();
    if (durationBetween(question.asked, now) > options.longWait && most < options.most) most *= 2;
    connection.question = question;
    question.connection = connection;
    connection.socket.ref();
    if (connection.established) connection.socket.write(question.text);
    else question.connectLimit = limit(question, options.connectTimeout, 'ConnectTimeout');
  };

  return {
    async ask(text, signal) {
      signal?.throwIfAborted();
      return await new Promise<Answer>((resolve, reject) => {
        const question: Question = {
          text,
          asked: clock.now(),
          reader: new AnswerReader(),
          resolve,
          reject,
          signal,
          onAbort: () => fail(question, new Error('aborted')),
          requestLimit: undefined,
          connectLimit: undefined,
          connection: undefined,
        };
        question.requestLimit = limit(question, options.requestTimeout, 'RequestTimeout');
        signal?.addEventListener('abort', question.onAbort);
        waiting.push(question);
        serveNext();
      });
    },
    close() {
      for (const { socket } of open) socket.destroy();
    },
  };
}
