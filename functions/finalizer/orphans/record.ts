/** The ledger of instances: one record for each that may have been left behind, until it has ended or the cluster has it. */
import { OWNER } from '../common/context.ts';
import { CURFEW_GROUP } from '../../../shared/contract/names.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import { instant } from '../../../shared/contract/instant.ts';
import * as z from '../../../shared/contract/zod.ts';
import { checkedCodec, storedUnder, type RecordCodec } from '../../../shared/lifecycle/record-codec.ts';

const schema = z.object({
  /** The NodeClaim or Node that went in the middle of its termination; absent: nobody knows whose the instance was. */
  object: z.exactOptional(
    z.object({ apiVersion: z.string(), kind: z.string(), name: z.string(), uid: z.exactOptional(z.string()) }),
  ),
  /** Time since which it is known. */
  since: instant,
  /** Time of the last report. */
  reportedTime: instant,
  /** A person has dealt with it: it is not reported any more. */
  forgotten: z.exactOptional(z.boolean()),
});

export type OrphanEntry = z.output<typeof schema>;

export const ORPHAN_CODEC: RecordCodec<OrphanEntry> = storedUnder(
  { reportedTime: 'saidTime' },
  checkedCodec(OWNER, schema, 1),
);

const KIND = 'Instance';

/** The instance as subject of its record and wake-ups; its name is the providerID. */
export const instanceSubject = (providerID: string): Subject => ({
  apiVersion: `${CURFEW_GROUP}/v1alpha1`,
  kind: KIND,
  name: providerID,
});

/** Whether a wake-up with this subject is about an instance. */
export const isInstance = ({ apiVersion, kind }: Subject): boolean =>
  kind === KIND && apiVersion === instanceSubject('').apiVersion;
