/** Draws the rows that are no lanes: hooks and pods of an open lane, and lanes that are folded into one. */
import { shortClock, spanText } from '../src/day/text.ts';
import { spanOf } from './draw-bars.ts';
import { text, widthOf, type Frame } from './frame.ts';
import type { LaneRow } from './layout.ts';

export function drawHook(frame: Frame, { hook }: Extract<LaneRow, { kind: 'hook' }>, y: number): void {
  const { context, colours } = frame;
  const [left, wide] = spanOf(frame, hook, 5);
  context.strokeStyle = colours.red;
  context.lineWidth = 1.3;
  context.strokeRect(left + 0.5, y + 3, wide, 9);
  const words =
    hook.result === 'succeeded'
      ? `hook, done after ${spanText(hook.to - hook.from)}`
      : hook.result === 'not waited for'
        ? 'hook, called and not waited for'
        : hook.result === 'running'
          ? 'hook, no answer so far'
          : `hook, ${hook.result} at ${shortClock(hook.to)}`;
  text(frame, words, [left + wide + 6, y + 7.5], { colour: colours.soft, size: 10.5 });
}

export function drawPod(frame: Frame, { pod, lane }: Extract<LaneRow, { kind: 'pod' }>, y: number): void {
  const { context, colours, x, width } = frame;
  const [left, wide] = spanOf(frame, pod);
  context.fillStyle = colours.pod;
  context.fillRect(left, y + 3, wide, 9);
  context.strokeStyle = colours.podEdge;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, y + 3.5, wide - 1, 8);
  const protection =
    pod.protection === undefined ? 'running' : `running, karpenter.sh/do-not-disrupt: ${pod.protection}`;
  if (widthOf(frame, protection, 10) + 8 < wide)
    text(frame, protection, [Math.max(left, 0) + 4, y + 7.8], { colour: colours.soft, size: 10 });
  const budget = lane.waits.find(({ isBudget }) => isBudget);
  const numbers = budget && /needs (\d+) healthy pods and has (\d+)/.exec(budget.detail);
  if (numbers && x(budget.to) > 0 && x(budget.from) < width)
    text(frame, `PDB ${numbers[2] ?? ''} of ${numbers[1] ?? ''}`, [Math.min(x(budget.to), left + wide) - 5, y + 7.8], {
      colour: colours.amberText,
      size: 10,
      weight: 600,
      align: 'right',
    });
  if (pod.isOpen) return;
  const until = lane.bars.find(({ kind }) => kind === 'protection')?.until;
  if (pod.isTaken && until !== undefined && until > pod.to) {
    context.strokeStyle = colours.green;
    context.setLineDash([2, 2]);
    context.strokeRect(x(pod.to) + 0.5, y + 3.5, x(until) - x(pod.to), 8);
    context.setLineDash([]);
    text(frame, `taken ${spanText(until - pod.to)} before its protection ended`, [x(until) + 6, y + 7.8], {
      colour: colours.greenText,
      size: 10.5,
      weight: 650,
    });
  } else text(frame, 'gone', [left + wide + 6, y + 7.8], { colour: colours.soft, size: 10.5 });
}

export function drawFold(frame: Frame, { lanes, text: words }: Extract<LaneRow, { kind: 'fold' }>, y: number): void {
  const { context, colours } = frame;
  const [first] = lanes;
  const bar = first?.bars.find(({ kind }) => kind === 'protection');
  if (bar === undefined) {
    text(frame, words, [6, y + 8.5], { colour: colours.faint, size: 10.5 });
    return;
  }
  const [left, wide] = spanOf(frame, bar);
  context.fillStyle = colours.green;
  context.fillRect(left, y + 7.5, wide, 2);
  context.fillRect(left + wide - 1, y + 4.5, 2, 8);
  text(frame, words, [Math.max(left + wide, 0) + 7, y + 8.5], { colour: colours.greenText, size: 10.5, weight: 500 });
}
