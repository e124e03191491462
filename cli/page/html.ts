/** Makes the page: one file with script, styles, fonts and data in it. It asks for nothing, and its policy forbids it to. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { PageData } from '../../packages/timeline/src/page-data.ts';
import { bundleScript, styles } from './bundle.ts';

/**
 * The page as HTML.
 *
 * @param data what it shows; undefined: it follows the server that it comes from, at `events`
 */
export async function makePage(title: string, data: PageData | undefined): Promise<string> {
  const [code, css, packed] = await Promise.all([bundleScript(), styles(), pack(data)]);
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash(code)}`,
    "style-src 'unsafe-inline'",
    'font-src data:',
    'img-src data:',
    ...(data === undefined ? ["connect-src 'self'"] : []),
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${css}</style>
</head>
<body>
<noscript>This page draws a day of a cluster, and needs JavaScript for it. Nothing is loaded from anywhere.</noscript>
<script type="application/octet-stream" id="data">${packed}</script>
<script type="module">${code}</script>
</body>
</html>
`;
}

const compress = promisify(gzip);

async function pack(data: PageData | undefined): Promise<string> {
  return data === undefined ? '' : (await compress(JSON.stringify(data))).toString('base64');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, character => ENTITIES[character] ?? character);
