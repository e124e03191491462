/** Notices when the API server stops answering, and when it answers again: one line for each, however many calls fail. */
import type { Transport, TransportResponse } from '../../shared/adapters/kubernetes/transport.ts';
import { durationBetween, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Clock } from '../../shared/ports/clock.ts';

export interface ReachabilityListener {
  /** The first call that got no answer, in its words. */
  readonly onAway: (why: string) => void;
  readonly onBack: (after: DurationMs) => void;
}

/** Statuses that a load balancer, or a server that ends, answers in place of the API server. */
const STANDS_IN: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Calls pass through unchanged. A call that its caller aborts says nothing; 502 to 504 are no answer of the API server.
 */
export function watchReachability(transport: Transport, clock: Clock, listener: ReachabilityListener): Transport {
  let awaySince: EpochMs | undefined;
  const away = (why: string): void => {
    if (awaySince !== undefined) return;
    awaySince = clock.now();
    listener.onAway(why);
  };
  const back = (): void => {
    if (awaySince === undefined) return;
    const after = durationBetween(awaySince, clock.now());
    awaySince = undefined;
    listener.onBack(after);
  };
  const watched = async <Body>(
    { doing, signal }: { readonly doing: string; readonly signal?: AbortSignal },
    call: () => Promise<TransportResponse<Body>>,
  ): Promise<TransportResponse<Body>> => {
    try {
      const response = await call();
      if (STANDS_IN.has(response.status)) away(`${doing}: answered ${response.status}`);
      else back();
      return response;
    } catch (error) {
      if (signal?.aborted !== true) away(messageOf(error));
      throw error;
    }
  };
  return {
    request: request => watched(request, () => transport.request(request)),
    read: (request, read) => watched(request, () => transport.read(request, read)),
    stream: request => watched(request, () => transport.stream(request)),
    close: () => transport.close(),
  };
}
