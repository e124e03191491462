/** The keyboard: everything on the page can be reached by it. */
import { h } from './dom.ts';

export interface KeyHost {
  step(by: 1 | -1): void;
  lane(by: 1 | -1): void;
  zoom(factor: number): void;
  pan(share: number): void;
  whole(): void;
  open(): void;
  goTo(): void;
  filter(): void;
  close(): void;
  showKeys(): void;
}

const KEYS: readonly (readonly [string, string])[] = [
  ['click', 'select a node and an instant'],
  ['← →', 'the decision of the node before, after'],
  ['↑ ↓', 'the lane above, below'],
  ['+ − 0', 'zoom in, out, the whole day'],
  ['Shift ← →', 'pan; also by dragging, or Shift and the wheel'],
  ['Enter', 'open a lane into its hooks and pods'],
  ['/', 'go to a node or a time'],
  ['f', 'filter the table'],
  ['Esc', 'close what is open'],
  ['?', 'these keys'],
];

export function listenToKeys(host: KeyHost): void {
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.key === 'Escape') {
      if (isTyping) event.target.blur();
      host.close();
      return;
    }
    if (isTyping || document.querySelector('dialog[open]') !== null) return;
    // Enter and the space bar belong to the button that has the focus.
    if (event.key === 'Enter' && event.target instanceof HTMLButtonElement) return;
    const action = actionOf(event, host);
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}

function actionOf({ key, shiftKey }: KeyboardEvent, host: KeyHost): (() => void) | undefined {
  switch (key) {
    case 'ArrowLeft':
      return () => (shiftKey ? host.pan(-0.25) : host.step(-1));
    case 'ArrowRight':
      return () => (shiftKey ? host.pan(0.25) : host.step(1));
    case 'ArrowUp':
      return () => host.lane(-1);
    case 'ArrowDown':
      return () => host.lane(1);
    case '+':
    case '=':
      return () => host.zoom(0.5);
    case '-':
    case '−':
      return () => host.zoom(2);
    case '0':
      return () => host.whole();
    case 'Enter':
      return () => host.open();
    case '/':
      return () => host.goTo();
    case 'f':
      return () => host.filter();
    case '?':
      return () => host.showKeys();
    default:
      return undefined;
  }
}

export function keysDialog(): HTMLDialogElement {
  const list = KEYS.flatMap(([key, words]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, words)]);
  const dialog = h('dialog', { id: 'keys', 'aria-label': 'keys' }, h('h2', {}, 'Keys'), h('dl', {}, ...list));
  dialog.addEventListener('click', event => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}

/** Asks for a node or a time, and answers what was typed once Enter is pressed. */
export function goToDialog(
  names: () => readonly string[],
  go: (text: string) => boolean,
): { readonly dialog: HTMLDialogElement; readonly open: () => void } {
  const options = h('datalist', { id: 'nodes' });
  const problem = h('p', { role: 'alert', class: 'tone-red' });
  const input = h('input', { class: 'goto', placeholder: 'web-1, 18:32, web-1 18:32', 'aria-label': 'node or time' });
  input.setAttribute('list', 'nodes');
  const dialog = h(
    'dialog',
    { id: 'goto', 'aria-label': 'go to a node or a time' },
    h('h2', {}, 'Go to a node or a time'),
    input,
    options,
    problem,
  );
  input.addEventListener('keydown', event => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    if (go(input.value.trim())) dialog.close();
    else problem.textContent = `there is no node or time “${input.value.trim()}”`;
  });
  // At once, not at the dialog's `toggle`, which comes later: the first keys of a fast typist would be lost.
  function open(): void {
    options.replaceChildren(
      ...names()
        .slice(0, 2000)
        .map(name => h('option', { value: name })),
    );
    problem.textContent = '';
    input.value = '';
    dialog.showModal();
    input.focus();
  }
  dialog.addEventListener('click', event => {
    if (event.target === dialog) dialog.close();
  });
  return { dialog, open };
}
