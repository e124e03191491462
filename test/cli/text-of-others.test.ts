/** What users of a cluster write cannot make a command's output lie: no control character, no line of its own. */
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { explainCommand } from '../../cli/explain.ts';
import { simulateCommand } from '../../cli/simulate.ts';
import { createTimeline } from '../../cli/start/timeline.ts';

const FORGED = '15:00:00      repair      all is well';
const EVIL = JSON.stringify(`\u001b]0;t\u0007\u001b[2J\u202E\u009b1m\r\n${FORGED}`);
const SCENARIO = `apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: evil }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 5m
  config: "[featureGates]\\nnodeRepair = true\\n[[userNamespaces]]\\nname = \\"*\\"\\nmode = \\"Immediate\\"\\n"
  objects:
    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default, annotations: { curfew.dev/do-not-repair: ${EVIL} } }, spec: { repair: {} } }
    - apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: { name: nc1, labels: { karpenter.sh/nodepool: default } }
      status: { nodeName: n1, providerID: "aws:///us-west-2a/i-1" }
    - apiVersion: v1
      kind: Node
      metadata:
        name: n1
        creationTimestamp: "2024-11-01T13:00:00Z"
        labels: { karpenter.sh/nodepool: default }
        annotations: { curfew.dev/drain-requested: ${EVIL}, curfew.dev/do-not-repair: ${EVIL}, karpenter.sh/do-not-disrupt: ${EVIL} }
      spec: { providerID: "aws:///us-west-2a/i-1" }
      status: { conditions: [{ type: Ready, status: "False", reason: ${EVIL}, lastTransitionTime: "2024-11-01T14:00:00Z" }] }
    - apiVersion: v1
      kind: Pod
      metadata: { name: web-0, namespace: prod, annotations: { karpenter.sh/do-not-disrupt: ${EVIL} } }
      spec: { nodeName: n1 }
      status: { phase: Running }
  steps:
    - { at: 1m, busEvent: { source: ${EVIL}, detail-type: HealthEvent, detail: { id: ${EVIL}, nodeName: n1, checkName: ${EVIL}, message: ${EVIL}, isFatal: true } } }
`;

type Command = (
  file: string,
  output: { out: (text: string) => void; error: (text: string) => void },
) => Promise<number>;

const explain =
  (kind: string, name: string): Command =>
  (scenario, output) =>
    explainCommand(kind, name, { scenario }, output);

it.each<[string, Command]>([
  ['simulate', (file, output) => simulateCommand([file], {}, output)],
  ['explain node', explain('node', 'n1')],
  ['explain pod', explain('pod', 'prod/web-0')],
  ['explain nodepool', explain('nodepool', 'default')],
])('curfew %s shows what others wrote as escapes', async (_, command) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'curfew-test-'));
  const file = join(folder.path, 'evil.yaml');
  writeFileSync(file, SCENARIO);
  const lines: string[] = [];
  const add = (text: string): void => void lines.push(...text.split('\n'));
  expect(await command(file, { out: add, error: add })).toBe(0);
  expect(lines.join('')).toContain(String.raw`\u001b[2J`);
  expect(lines.filter(line => /[\p{Cc}\p{Bidi_Control}]/u.test(line))).toEqual([]);
  expect(lines).not.toContain(FORGED);
});

it('the timeline of npm start does so, too', () => {
  let written = '';
  const timeline = createTimeline({ isTTY: false, columns: 80, write: text => (written += text) }, () => 0);
  timeline.line('drain', `drain ${EVIL}`);
  timeline.line('drain', 'a\u001b[2Jb\nc');
  timeline.bad('a\u001b[2Jb');
  expect(written.split('\n').filter(line => line !== '')).toHaveLength(3);
  expect(written.replaceAll('\n', '')).not.toMatch(/[\p{Cc}]\[2J/u);
});
