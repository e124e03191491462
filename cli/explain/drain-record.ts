/** Reads the drain of a node from Curfew's table: who asks for it, and its end. */
import {
  DRAIN_CODEC,
  isAskedByRepair,
  NODE_ANNOTATION,
  openRequests,
  recordIdOf,
  type DrainRequest,
} from '../../functions/drain/explain.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { nodeOfRequest } from '../../shared/domain/source.ts';
import { readRecord } from '../../shared/lifecycle/record-codec.ts';
import type { RecordStore } from '../../shared/ports/record-store.ts';

export interface KnownDrain {
  /** Requests that it answers; none once its end is decided. */
  readonly requests: readonly Pick<DrainRequest, 'id' | 'requestedBy'>[];
  /** Its end, where its Node still shows it. */
  readonly over: { readonly status: string; readonly message: string } | undefined;
}

/** Reads the drain with this id; undefined: the table does not know it, or a newer version wrote it. */
export async function readDrain(
  records: Pick<RecordStore, 'get'>,
  { uid }: Pick<NodeView, 'uid'>,
  drainId: string,
): Promise<KnownDrain | undefined> {
  const key = { owner: DRAIN_CODEC.owner, id: recordIdOf(uid) };
  const read = readRecord(DRAIN_CODEC, await records.get(key));
  const active = read.kind === 'known' ? read.value.active : undefined;
  if (active?.id !== drainId) return undefined;
  const over = active.phase.kind === 'ending' ? active.phase.outcome : undefined;
  return { requests: openRequests({ active }), over };
}

/**
 * Names who asks for the drain now, by the table; else who began it, as its id says, and a person whose request stands
 * on the node. Nobody knows who sent a HealthEvent.
 *
 * @param asked the id on the node that has no answer
 */
export function whoAsks(
  id: string,
  { uid }: Pick<NodeView, 'uid'>,
  asked: string | undefined,
  known: KnownDrain | undefined,
): string | undefined {
  const person = (request: string): string => `a person, on the node${request === id ? '' : ` (${request})`}`;
  const requests = known?.requests ?? [];
  if (requests.length > 0) {
    const names = requests.map(request =>
      isAskedByRepair(request)
        ? 'repair'
        : request.requestedBy === NODE_ANNOTATION
          ? person(request.id)
          : request.requestedBy,
    );
    return [...new Set(names)].join(' and by ');
  }
  if (nodeOfRequest(id) !== uid) return asked && person(asked);
  return `repair, when it began${asked === undefined ? '' : `, and by ${person(asked)}`}`;
}
