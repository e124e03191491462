/** `npm start`: plays the node repair story on the local stack and checks that all of it happened. */
import { RESOURCES } from '../../shared/contract/resources.ts';
import { KARPENTER } from '../../shared/contract/names.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { parseTimestamp, seconds, toTimestamp } from '../../shared/domain/time.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { ApiStatusError } from '../../packages/kube-apiserver/src/types.ts';
import { ENDING_SIGNALS } from './interruption.ts';
import { startLocalStack, type LocalStack } from './local-stack.ts';
import { narrateAudit, narrateWrite, readAuditLine, readProblem, type AuditLine } from './narrate.ts';
import { HEALTHY_NODES, SICK_NODES, storyObjects, type SickNode } from './story.ts';
import type { Timeline } from './timeline.ts';

/** A repair may come this much after its due time before the story counts as failed. */
const PUNCTUAL_WITHIN_MS = 3000;
/** Until both nodes are gone, counted from the flip of the conditions. */
const STORY_LIMIT_MS = 60_000;
const POLL = seconds(0.1);

interface DemoEvents {
  readonly audits: AuditLine[];
  /** Times at which the deletion of each NodeClaim was accepted, epoch ms, by name. */
  readonly deletions: Map<string, number>;
  readonly annotations: Map<string, string>;
  readonly problems: string[];
  /** The demo is over: what the parts still do is not part of it. */
  over: boolean;
}

/** Resolves to the exit code: 0 only if everything happened that should, and nothing else. */
export async function playDemo(timeline: Timeline): Promise<number> {
  const happened: DemoEvents = { audits: [], deletions: new Map(), annotations: new Map(), problems: [], over: false };
  const interrupted = new AbortController();
  timeline.heading('Curfew: node auto repair, on this machine');
  timeline.plain('  Two nodes of ten become unhealthy. One condition is tolerated for 10 s, the other for 15 s.');
  const stack = await startLocalStack({
    onStep: step => timeline.step(`  ${step} …`),
    onProblem: message => happened.problems.push(message),
    onLog: line => {
      if (happened.over) return;
      const audit = readAuditLine(line);
      if (audit !== undefined) {
        happened.audits.push(audit);
        narrateAudit(timeline, audit);
      }
      const problem = readProblem(line);
      if (problem !== undefined) happened.problems.push(problem);
    },
  });
  for (const signal of ENDING_SIGNALS) process.once(signal, () => interrupted.abort(new Error(signal)));
  try {
    observeWrites(stack, happened, timeline);
    const began = await setTheScene(stack, timeline);
    const over = await waitForTheEnd(stack, timeline, began, interrupted.signal);
    happened.over = true;
    timeline.endProgress();
    return report(stack, timeline, { happened, began, over });
  } finally {
    await stack.stop();
  }
}

function observeWrites({ cluster }: LocalStack, happened: DemoEvents, timeline: Timeline): void {
  cluster.core.observe(write => {
    narrateWrite(timeline, write);
    if (write.resource.kind !== 'NodeClaim' || !write.user.startsWith('curfew-')) return;
    if (write.verb === 'delete') happened.deletions.set(write.ref.name, systemClock.now());
    const deadline = write.after?.metadata.annotations?.[KARPENTER.terminationTimestampAnnotation];
    if (deadline !== undefined) happened.annotations.set(write.ref.name, deadline);
  });
}

/** Answers the instant at which the conditions flipped, which is their lastTransitionTime: a whole second. */
async function setTheScene({ cluster }: LocalStack, timeline: Timeline): Promise<number> {
  for (const manifest of storyObjects(toTimestamp(systemClock.now()))) cluster.core.seed(manifest);
  // A transition time has whole seconds: flip on the second, so that what is seen is exact.
  const toNextSecond = 1000 - (systemClock.now() % 1000);
  await systemClock.sleep(seconds((toNextSecond + 1000) / 1000));
  const flipTime = toTimestamp(systemClock.now());
  timeline.begin(parseTimestamp(flipTime) ?? systemClock.now());
  timeline.plain();
  for (const sick of SICK_NODES) {
    flip(cluster.core, sick, flipTime);
    const { type, status } = sick.condition;
    timeline.line('cluster', `${sick.node}: ${type}=${status}, tolerated for ${sick.tolerationSeconds} s`);
  }
  return parseTimestamp(flipTime) ?? systemClock.now();
}

function flip(core: LocalStack['cluster']['core'], { node, condition }: SickNode, time: string): void {
  const ref = { type: RESOURCES.Node, name: node };
  const current = core.get(ref).status?.['conditions'];
  const conditions = (Array.isArray(current) ? current : []).map(entry =>
    entry !== null && typeof entry === 'object' && 'type' in entry && entry['type'] === condition.type
      ? { ...condition, lastTransitionTime: time, lastHeartbeatTime: time }
      : entry,
  );
  core.patch(ref, { type: 'merge', body: { status: { conditions } } }, { user: 'kubelet', subresource: 'status' });
}

async function waitForTheEnd(
  { cluster }: LocalStack,
  timeline: Timeline,
  began: number,
  signal: AbortSignal,
): Promise<boolean> {
  const isGone = ({ node }: SickNode): boolean => find(cluster.core, node) === undefined;
  while (!SICK_NODES.every(isGone)) {
    const elapsed = systemClock.now() - began;
    if (elapsed > STORY_LIMIT_MS || signal.aborted) return false;
    const waiting = SICK_NODES.filter(sick => !isGone(sick)).map(({ node, tolerationSeconds }) => {
      const left = tolerationSeconds - elapsed / 1000;
      return left > 0 ? `${node} is repaired in ${left.toFixed(1)} s` : `${node} is being terminated`;
    });
    timeline.progress(`           ${waiting.join(', ')}`);
    await systemClock.sleep(POLL);
  }
  return true;
}

function find(core: LocalStack['cluster']['core'], name: string): KubernetesObject | undefined {
  try {
    return core.get({ type: RESOURCES.Node, name });
  } catch (error) {
    if (error instanceof ApiStatusError && error.status.code === 404) return undefined;
    throw error;
  }
}

/** The end of the story, with all that happened. */
interface DemoEnd {
  readonly happened: DemoEvents;
  /** In milliseconds since 1970. */
  readonly began: number;
  /** Within its time. */
  readonly over: boolean;
}

function report(stack: LocalStack, timeline: Timeline, { happened, began, over }: DemoEnd): number {
  timeline.heading('What happened');
  let failures = 0;
  const check = (holds: boolean, text: string): void => {
    if (holds) timeline.good(text);
    else {
      failures += 1;
      timeline.bad(text);
    }
  };
  for (const { node, nodeClaim, tolerationSeconds } of SICK_NODES) {
    const deleted = happened.deletions.get(nodeClaim);
    const late = deleted === undefined ? undefined : deleted - began - tolerationSeconds * 1000;
    check(
      late !== undefined && late >= 0 && late <= PUNCTUAL_WITHIN_MS,
      late === undefined
        ? `NodeClaim ${nodeClaim} was not deleted`
        : `NodeClaim ${nodeClaim} was deleted ${tolerationSeconds} s after the flip, ${late} ms late`,
    );
    const annotation = happened.annotations.get(nodeClaim);
    check(annotation !== undefined, `it was marked for forceful termination at ${annotation ?? '(never)'}`);
    check(over && find(stack.cluster.core, node) === undefined, `node ${node} is gone`);
    check(
      happened.audits.some(audit => audit.decision === 'repair' && audit.name === node),
      `the audit log says why ${node} was repaired`,
    );
  }
  const untouched = HEALTHY_NODES.every(index => find(stack.cluster.core, `node-${index}`) !== undefined);
  check(
    untouched && happened.deletions.size === SICK_NODES.length,
    `the ${HEALTHY_NODES.length} healthy nodes were left alone`,
  );
  for (const problem of happened.problems) check(false, problem);

  timeline.heading('Where to look next');
  timeline.plain('  npm start -- --serve                      the same stack, for kubectl');
  timeline.plain('  npm start -- --kubeconfig FILE            your cluster: decides and reports, changes nothing');
  timeline.plain('  npx curfew simulate FILE                  a policy on virtual time (examples/scenarios/)');
  timeline.plain('  docs/guides/getting-started.md            the first 15 minutes; docs/README.md has all pages');
  return failures === 0 ? 0 : 1;
}
