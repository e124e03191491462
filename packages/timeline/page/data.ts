/** Where the page's lines come from: the document itself, or a server that goes on sending them. */
import type { PageData } from '../src/page-data.ts';
import type { TraceLine } from '../src/trace/lines.ts';

/** Unpacks what stands in the document: gzip in base64. Whoever made the document has checked it against the schema. */
export async function embeddedData(): Promise<PageData | undefined> {
  const packed = document.getElementById('data')?.textContent.trim() ?? '';
  if (packed === '') return undefined;
  const bytes = Uint8Array.from(atob(packed), character => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).json();
}

/** Lines that a server sends one by one; `onLines` gets those of a quarter of a second at once. */
export function followServer(
  url: string,
  onLines: (lines: readonly TraceLine[]) => void,
  onState: (isThere: boolean) => void,
): void {
  const source = new EventSource(url);
  let waiting: TraceLine[] = [];
  let timer: number | undefined;
  source.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const line: TraceLine = JSON.parse(data);
    // A server that was started anew tells everything from the beginning.
    if (line.kind === 'trace') waiting = [];
    waiting.push(line);
    timer ??= window.setTimeout(() => {
      timer = undefined;
      onLines(waiting);
      waiting = [];
    }, 250);
  });
  source.addEventListener('open', () => onState(true));
  source.addEventListener('error', () => onState(false));
}
