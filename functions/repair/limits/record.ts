/** How the record of the concurrent repairs is written down; checked before each write and after each read. */
import { instant } from '../../../shared/contract/instant.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import * as z from '../../../shared/contract/zod.ts';
import { ROUND_KIND } from '../../../shared/lifecycle/rounds.ts';
import type { RecordCodec } from '../../../shared/lifecycle/record-codec.ts';
import { OWNER } from '../record.ts';
import type { ConcurrentRepairs } from './concurrent.ts';

export const CONCURRENT_REPAIRS_ID = 'concurrent-repairs';
/** No object of the cluster. */
export const CONCURRENT_REPAIRS: Subject = {
  apiVersion: 'curfew.dev/v1alpha1',
  kind: ROUND_KIND,
  name: CONCURRENT_REPAIRS_ID,
};

const schema = z.madeOnce(() =>
  z.object({
    basis: z.string(),
    reservations: z.array(
      z.object({
        uid: z.string(),
        zone: z.exactOptional(z.string()),
        pool: z.exactOptional(z.string()),
        since: instant,
        observed: z.exactOptional(z.literal(true)),
      }),
    ),
    waiting: z.array(
      z.object({
        pool: z.exactOptional(z.string()),
        awaits: z.record(z.string(), z.object({ since: instant, most: z.int() })),
        since: instant,
        observed: z.exactOptional(z.literal(true)),
      }),
    ),
    freed: z.array(z.string()),
    checkTime: instant,
  }),
);

export const concurrentRepairsCodec: RecordCodec<ConcurrentRepairs> = {
  owner: OWNER,
  schemaVersion: 1,
  parse: state => schema().parse(state),
  toState: ({ basis, reservations, waiting, freed, checkTime }) =>
    schema().parse({ basis, reservations, waiting, freed, checkTime }),
};
