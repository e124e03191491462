/** The connection to the API server of somebody who drains. */
import { createTransport, type Transport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { connectAs } from '../../test/control-plane/end-to-end/curfew-on-cluster.ts';
import type { Access } from './objects.ts';

/** @param user one of Curfew's parts; without tokens everybody may do everything */
export function connect({ server, ca, tokens }: Access, user: string): Transport {
  return ca === undefined
    ? createTransport({ server, clock: systemClock, userAgent: user })
    : connectAs(user, { server, ca, token: tokens?.[user] ?? '' });
}
