/** Reads a watch over HTTP event by event. */

export interface WatchLines {
  readonly status: number;
  /** The next event; undefined when the server ended the stream. Rejects when the connection broke. */
  next(): Promise<unknown>;
  /** Everything up to the end. */
  rest(): Promise<unknown[]>;
  /** Hangs up, as a client does that has seen enough. */
  stop(): Promise<void>;
}

export async function watchLines(response: Response): Promise<WatchLines> {
  const body = response.body;
  if (body === null) throw new Error('a watch has a body');
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffered = '';
  const next = async (): Promise<unknown> => {
    for (;;) {
      const end = buffered.indexOf('\n');
      if (end >= 0) {
        const line = buffered.slice(0, end);
        buffered = buffered.slice(end + 1);
        const event: unknown = JSON.parse(line);
        return event;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      buffered += value;
    }
  };
  return {
    status: response.status,
    next,
    async rest() {
      const events: unknown[] = [];
      for (let event = await next(); event !== undefined; event = await next()) events.push(event);
      return events;
    },
    async stop() {
      await reader.cancel();
    },
  };
}
