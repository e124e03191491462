/**
 * Karpenter's own node repair and Curfew's, in turns, on one kube-apiserver and the same nodes, which Karpenter's kwok provider makes and
 * ends. In both turns the termination is Karpenter's; whose repair deletes the NodeClaim is the difference.
 */
import { join } from 'node:path';
import * as z from 'zod';
import { ensureControlPlaneBinaries } from '../test/control-plane/build.ts';
import { missingForKarpenter } from '../test/control-plane/karpenter/start.ts';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { FULL, QUICK, type Layout } from './karpenter/layouts.ts';
import { startMeasuredProcess, type MeasuredProcess } from './measure/measured-process.ts';
import { atMost, numberRow, ratioRow, type Row } from './report/row.ts';

const ONE_RATIO_MAX = 1;
const TEN_RATIO_MAX = 1;
const DELETES_MAX = 1;
const processFile = (name: string): string => join(import.meta.dirname, 'karpenter', `${name}-process.ts`);

/** Ends within a quarter of an hour. */
export const karpenter: Bench = {
  summary: "repairs beside 100 nodes of a real Karpenter: due to deleted, against Karpenter's own node repair",
  runsOnControlPlane: false,
  run: runRepairs,
};

type Party = 'karpenter' | 'curfew';
const PARTIES: readonly Party[] = ['karpenter', 'curfew'];
type Size = keyof Layout['bursts'];

/** Bursts of each size in a turn. */
type Bursts = Readonly<Record<Size, number>>;
const FULL_BURSTS: Bursts = { one: 6, ten: 2 };
const QUICK_BURSTS: Bursts = { one: 2, ten: 1 };

const startedSchema = z.object({ server: z.string(), ca: z.string(), tokens: z.record(z.string(), z.string()) });
const numbers = z.array(z.number());
const burstSchema = z.object({
  /** From the instant at which the nodes were due for both to each replacement that the party asked for. */
  begunMs: numbers,
  /** Of each NodeClaim, from that instant to the accepted deletion. */
  reactionMs: numbers,
  /** From there until its Node was gone. */
  goneMs: numbers,
  /** Of the party, from the write that broke the nodes to the last deletion, with what Karpenter's termination needs until then. */
  requests: z.number(),
  requestsByKind: z.record(z.string(), z.number()),
  bytes: z.number(),
  deletesByCurfew: z.number(),
});
type BurstSample = z.infer<typeof burstSchema>;

interface Sample extends BurstSample {
  readonly nodes: number;
  readonly party: Party;
  readonly size: Size;
}

async function runRepairs(context: BenchContext): Promise<BenchOutcome> {
  const layout = context.quick ? QUICK : FULL;
  const bursts = context.quick ? QUICK_BURSTS : FULL_BURSTS;
  const samples: Sample[] = [];
  const problems = await inTurns(layout, context, async (cluster, party) => {
    samples.push(...(await turn(cluster, layout, bursts, party)));
  });
  return { settings: { bursts, layout }, rows: rowsOf(layout, samples), samples: { samples, problems } };
}

/** One after the other on the same cluster. Answers what Curfew has failed at. */
async function inTurns(
  layout: Layout,
  { progress }: BenchContext,
  take: (cluster: MeasuredProcess, party: Party) => Promise<void>,
): Promise<readonly string[]> {
  const missing = await missingForKarpenter(await ensureControlPlaneBinaries(line => progress.say(line)));
  if (missing !== undefined) throw new Error(`there is no Karpenter to compare with: ${missing}`);
  const problems: string[] = [];
  progress.say(`karpenter: making ${layout.nodes} nodes`);
  await using cluster = startMeasuredProcess(processFile('cluster'));
  const access = await cluster.ask('start', startedSchema);
  await using parts = new AsyncDisposableStack();
  parts.defer(async () => void (await cluster.ask('stop', z.unknown())));
  await cluster.ask('karpenter', z.unknown(), { nodeRepair: false });
  await cluster.ask('layout', z.unknown(), layout);
  for (const [index, party] of PARTIES.entries()) {
    progress.say(`karpenter: ${party} repairs, ${layout.nodes} nodes`, { done: index, of: PARTIES.length });
    await cluster.ask('karpenter', z.unknown(), { nodeRepair: party === 'karpenter' });
    await using curfew = party === 'curfew' ? await startCurfew(access) : undefined;
    await take(cluster, party);
    await cluster.ask('settled', z.unknown());
    if (curfew !== undefined) problems.push(...(await curfew.ask('problems', z.array(z.string()))));
  }
  return problems;
}

async function startCurfew(access: z.infer<typeof startedSchema>): Promise<MeasuredProcess> {
  const curfew = startMeasuredProcess(processFile('curfew'));
  await curfew.ask('start', z.unknown(), access);
  return curfew;
}

async function turn(
  cluster: MeasuredProcess,
  layout: Layout,
  bursts: Bursts,
  party: Party,
): Promise<readonly Sample[]> {
  const burst = async (what: number): Promise<BurstSample> => {
    const sample = await cluster.ask('burst', burstSchema, { burst: what, by: party });
    await cluster.ask('settled', z.unknown());
    return sample;
  };
  // The first repair of a new process is slower.
  await burst(layout.bursts.one);
  const samples: Sample[] = [];
  for (const size of ['one', 'ten'] as const) {
    for (let index = 0; index < bursts[size]; index++) {
      samples.push({ nodes: layout.nodes, party, size, ...(await burst(layout.bursts[size])) });
    }
  }
  return samples;
}

function rowsOf({ nodes }: Layout, all: readonly Sample[]): readonly Row[] {
  const of = (party: Party, size: Size): readonly Sample[] =>
    all.filter(sample => sample.nodes === nodes && sample.party === party && sample.size === size);
  const ratio = (
    name: string,
    size: Size,
    unit: Row['ours']['unit'],
    values: (sample: Sample) => readonly number[],
  ) => ({
    name: `${name}, ${nodes} nodes`,
    unit,
    ours: of('curfew', size).flatMap(values),
    reference: of('karpenter', size).flatMap(values),
  });
  const begun = ({ begunMs }: Sample): readonly number[] => begunMs;
  const reaction = ({ reactionMs }: Sample): readonly number[] => reactionMs;
  const last = ({ reactionMs }: Sample): readonly number[] => [Math.max(...reactionMs)];
  const gone = ({ goneMs }: Sample): readonly number[] => goneMs;
  /** Of each repair. */
  const costs = (what: string, unit: Row['ours']['unit'], total: (sample: Sample) => number): readonly Row[] => {
    const each = (sample: Sample): readonly number[] => [total(sample) / sample.reactionMs.length];
    return [
      ratioRow(ratio(`${what} a repair, one by one`, 'one', unit, each)),
      ratioRow(ratio(`${what} a repair, ten at once`, 'ten', unit, each)),
    ];
  };
  const claims = (samples: readonly Sample[]): number => samples.flatMap(reaction).length;
  const ours = all.filter(sample => sample.nodes === nodes && sample.party === 'curfew');
  return [
    ratioRow(ratio('due to replacement asked for, one by one', 'one', 'ms', begun)),
    ratioRow(ratio('due to replacement asked for, ten at once', 'ten', 'ms', begun)),
    ratioRow({ ...ratio('due to deleted, one by one', 'one', 'ms', reaction), limit: atMost(ONE_RATIO_MAX) }),
    ratioRow({ ...ratio('due to deleted, ten at once', 'ten', 'ms', reaction), limit: atMost(TEN_RATIO_MAX) }),
    ratioRow(ratio('the last of ten at once', 'ten', 'ms', last)),
    ratioRow(ratio('deleted to Node gone, one by one', 'one', 'ms', gone)),
    ratioRow(ratio('deleted to Node gone, ten at once', 'ten', 'ms', gone)),
    ...costs('requests', '1', ({ requests }) => requests),
    ...costs('bytes', 'B', ({ bytes }) => bytes),
    numberRow({
      name: `DELETEs a NodeClaim by Curfew, ${nodes} nodes`,
      unit: '1',
      ours: ours.reduce((sum, { deletesByCurfew }) => sum + deletesByCurfew, 0) / claims(ours),
      limit: atMost(DELETES_MAX),
    }),
  ];
}
