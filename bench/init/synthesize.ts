/** `node synthesize.ts OUTPUT_FOLDER`: synthesizes the app in a process of its own, because bundling talks to the terminal. */
import { buildApp } from '../../infra/build-app.ts';

const [outdir] = process.argv.slice(2);
if (outdir === undefined) throw new Error('the output folder must be given');

buildApp({ outdir }).app.synth();
