/** The record of the looks at the status of the policies: one for all. Without a policy there is none. */
import { OWNER } from '../common/context.ts';
import { instant } from '../../../shared/contract/instant.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import * as z from '../../../shared/contract/zod.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import { checkedCodec, type RecordCodec } from '../../../shared/lifecycle/record-codec.ts';

const schema = z.object({
  /** Time at which the latest look began. */
  lookTime: instant,
  /**
   * Time at which the latest look began that also wrote statuses that differ in numbers alone; absent: the same look.
   */
  countTime: z.exactOptional(instant),
  /** Reasons why statuses could not be written, as they were reported; a line each. */
  refused: z.exactOptional(z.string()),
  /** Time at which Events said so last. */
  refusedTime: z.exactOptional(instant),
});

export type StatusRecord = Readonly<z.output<typeof schema>>;

export const STATUS_CODEC: RecordCodec<StatusRecord> = checkedCodec(OWNER, schema, 1);

/** Time at which the latest look began that also wrote statuses that differ in numbers alone. */
export const countTimeOf = ({ countTime, lookTime }: StatusRecord): EpochMs => countTime ?? lookTime;

/** Id of the record. */
export const STATUS_ID = 'policy-status';

/** The subject of the record, with a name that no policy can have. */
export const STATUS_SUBJECT: Subject = { apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', name: '*' };
