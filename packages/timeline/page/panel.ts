/** The panel on the right: one node at one instant. The text is that of `explain`, word by word. */
import { clockText, spanText } from '../src/day/text.ts';
import type { Day, Lane } from '../src/day/types.ts';
import { h } from './dom.ts';
import { auditAt, policiesAt, type Decided } from './policy-lines.ts';
import { excerptOf, yamlLines } from './yaml-lines.ts';

/** What `explain node NAME` says at an instant; undefined: there is no such node then. */
export type Explain = (node: string, time: number) => Promise<string | undefined>;

export interface PanelHost {
  readonly day: () => Day;
  /** undefined: the trace has no objects, as an audit log. */
  readonly explain: Explain | undefined;
  close(): void;
  select(node: string, time: number): void;
}

/** Fills the panel; resolves once the text of `explain` stands in it. */
export async function showPanel(panel: HTMLElement, host: PanelHost, lane: Lane, time: number): Promise<void> {
  const day = host.day();
  const offset = time - day.start;
  const command = `curfew explain node ${lane.name}${day.header.file === undefined ? '' : ` --scenario ${day.header.file}`} --at ${goDuration(offset)}`;
  const explained = h('div', { class: 'explain', id: 'explain', 'aria-live': 'polite' }, '…');
  const decided = policiesAt(day, lane, time);
  panel.replaceChildren(
    h(
      'section',
      {},
      h(
        'div',
        { class: 'title' },
        h('strong', {}, lane.name),
        h('span', { class: 'chip' }, clockText(time)),
        h('span', { class: 'tone-plain' }, `${offset < 0 ? '' : spanText(offset)} after start`),
        h('button', { onclick: () => host.close() }, 'close ', h('kbd', {}, 'Esc')),
      ),
      day.header.source === 'simulation' &&
        h(
          'div',
          { class: 'cmd' },
          h('code', {}, command),
          h(
            'button',
            {
              title: 'copy',
              'aria-label': 'copy the command',
              onclick: () => void navigator.clipboard.writeText(command),
            },
            copyIcon(),
          ),
        ),
    ),
    h('section', {}, h('h2', {}, 'Explain'), explained),
    ...(decided.length > 0
      ? [
          h(
            'section',
            {},
            h('h2', {}, 'Policy lines that decided'),
            ...decided.map((each, index) =>
              policyElement(
                each,
                decided.slice(0, index).reduce((sum, { paths }) => sum + paths.length, 0),
              ),
            ),
          ),
        ]
      : []),
    auditElement(day, lane, time, host),
  );
  panel.scrollTop = 0;
  const text = await host
    .explain?.(lane.name, time)
    .catch((error: unknown) => `explain failed: ${error instanceof Error ? error.message : ''}`);
  const words =
    text ?? (host.explain === undefined ? saidBy(day, lane, time) : `node ${lane.name} does not exist at this instant`);
  explained.replaceChildren(...explainElements(words, values(decided)));
  explained.dataset['text'] = words;
}

/** Without the cluster's objects: what the log itself says of the instant. */
function saidBy(day: Day, lane: Lane, time: number): string {
  const found = auditAt(day, lane, time);
  if (found === undefined) return `Nothing was decided about node ${lane.name} up to here`;
  const { function: by, decision, reason, message } = found.line;
  return `Node ${lane.name}: ${message}\n  ${by}: ${decision} (${reason}) at ${found.line.t}\n  source: the audit log, which has no objects: explain needs the cluster or a simulation`;
}

/** `3h32m0s` as Go writes it, without zeros at the end. */
function goDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  const text = `${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes}m` : ''}${rest > 0 ? `${rest}s` : ''}`;
  return text === '' ? '0s' : text;
}

/** The first line leads; `key: value` lines are a list; what is indented further follows. The words stay as they are. */
function explainElements(text: string, marked: readonly string[]): readonly HTMLElement[] {
  const [lead = '', ...rest] = text.split('\n');
  return [
    h('div', { class: 'lead' }, lead),
    ...rest.map(line => {
      const depth = line.length - line.trimStart().length;
      const pair = depth === 2 ? /^ {2}([a-z][a-z ]{2,13}): (.*)$/.exec(line) : null;
      if (pair !== null)
        return h(
          'div',
          { class: 'kv' },
          h('span', {}, pair[1] ?? ''),
          h('span', {}, ...withMarks(pair[2] ?? '', marked)),
        );
      return h('div', { class: depth > 2 ? 'plain in1' : 'plain' }, ...withMarks(line.trim(), marked));
    }),
  ];
}

function withMarks(text: string, marked: readonly string[]): readonly (HTMLElement | string)[] {
  const found = marked
    .map((value, index) => ({ value, index, at: text.indexOf(value) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at);
  const parts: (HTMLElement | string)[] = [];
  let from = 0;
  for (const { value, index, at } of found) {
    if (at < from) continue;
    parts.push(
      text.slice(from, at),
      h('mark', {}, value),
      h('span', { class: 'pin', 'aria-label': `fact ${index + 1}`, 'data-pin': String(index + 1) }),
    );
    from = at + value.length;
  }
  return [...parts, text.slice(from)];
}

/** The words of `explain` that a field stands behind: the same number in the text and in the YAML. */
function values(decided: readonly Decided[]): readonly string[] {
  return decided.flatMap(({ policy, paths }) => paths.flatMap(path => wordsFor(path, policy.text)));
}

function wordsFor(path: string, text: string): readonly string[] {
  const field = path.split('.').at(-1) ?? '';
  const lines = yamlLines(text);
  const [hit] = [...excerptOf(lines, [path]).hits];
  const value = hit === undefined ? '' : (lines[hit - 1]?.text.split(': ')[1] ?? '');
  if (/toleration/i.test(field) && value !== '') return [`tolerated ${goText(value)}`];
  return field === '' ? [] : [field];
}

/** `30m` as explain writes it: `30m0s`. */
const goText = (value: string): string =>
  /^\d+m$/.test(value) ? `${value}0s` : /^\d+h$/.test(value) ? `${value}0m0s` : value;

/** @param before how many facts come before those of this policy */
function policyElement({ policy, paths }: Decided, before: number): HTMLElement {
  let fact = before;
  const { hits, shown } = excerptOf(yamlLines(policy.text), paths);
  const place =
    policy.file === undefined
      ? ''
      : `${policy.file.split('/').at(-1) ?? ''}${policy.line === undefined ? '' : `:${policy.line}`}`;
  return h(
    'div',
    { class: 'yaml mono' },
    h('div', { class: 'cap' }, `${policy.objectKind} ${policy.name}`, h('em', {}, place)),
    ...shown.map(line => {
      if ('skipped' in line)
        return h('div', { class: 'gap' }, `… ${line.skipped} line${line.skipped === 1 ? '' : 's'}`);
      const [key = '', ...rest] = line.text.split(':');
      return h(
        'div',
        { class: hits.has(line.number) ? 'ln hit' : 'ln' },
        h('i', {}, String(line.number)),
        h('b', {}, key),
        rest.length > 0 ? `:${rest.join(':')}` : '',
        hits.has(line.number) && h('span', { class: 'pin', 'data-pin': String((fact += 1)) }),
      );
    }),
  );
}

function auditElement(day: Day, lane: Lane, time: number, host: PanelHost): HTMLElement {
  const found = auditAt(day, lane, time);
  const position = found === undefined ? -1 : lane.decisions.indexOf(found.index);
  const step = (index: number | undefined, arrow: string): HTMLElement | undefined => {
    const line = index === undefined ? undefined : day.lines[index];
    if (line?.kind !== 'audit') return undefined;
    const at = Date.parse(line.t);
    const words = `${clockText(at)} ${line.decision}`;
    const key = h('kbd', {}, arrow);
    return h('button', { onclick: () => host.select(lane.name, at) }, ...(arrow === '←' ? [key, words] : [words, key]));
  };
  const steps = h(
    'div',
    { class: 'steps' },
    step(lane.decisions[position - 1], '←') ?? h('span', {}),
    step(lane.decisions[position + 1], '→'),
  );
  if (found === undefined) return h('section', {}, h('h2', {}, 'Audit line in force'), 'none so far', steps);
  const next = lane.decisions[position + 1];
  const until = next === undefined ? 'to the end' : `until ${clockText(Date.parse(day.lines[next]?.t ?? ''))}`;
  return h(
    'section',
    {},
    h('h2', {}, 'Audit line in force', h('em', {}, `${clockText(Date.parse(found.line.t))}, ${until}`)),
    h('pre', { class: 'json mono' }, ...jsonParts(found.line)),
    steps,
  );
}

/** The line as it is in the log, with the decision marked. */
function jsonParts(line: object): readonly (HTMLElement | string)[] {
  const text = JSON.stringify(line);
  const parts = text.split(/("(?:[^"\\]|\\.)*":)/g);
  const isMarked = (key: string): boolean => /^"(decision|reason|action|field)":$/.test(key);
  const out: (HTMLElement | string)[] = [];
  for (const [index, part] of parts.entries()) {
    if (/^"(?:[^"\\]|\\.)*":$/.test(part)) {
      out.push(isMarked(part) ? h('mark', {}, part) : h('b', {}, part));
    } else if (isMarked(parts[index - 1] ?? '')) {
      const value = /^"(?:[^"\\]|\\.)*"/.exec(part)?.[0] ?? '';
      out.push(h('mark', {}, value), part.slice(value.length));
    } else out.push(part);
  }
  return out;
}

function copyIcon(): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('width', '13');
  svg.setAttribute('height', '13');
  svg.innerHTML = '<path d="M5.5 5.5h8v8h-8zM2.5 10.5v-8h8" fill="none" stroke="currentColor" stroke-width="1.4"/>';
  return svg;
}
