// Imports one bundle in a fresh process and prints how long that took. Plain JavaScript: stripping types would load half of what is
// to be measured before the clock starts.
import { cpuUsage } from 'node:process';
import { pathToFileURL } from 'node:url';

const url = pathToFileURL(process.argv[2] ?? '').href;
const cpuBefore = cpuUsage();
const startTime = performance.now();
await import(url);
const wallMs = performance.now() - startTime;
const { user, system } = cpuUsage(cpuBefore);
process.stdout.write(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000 }));
// Whatever the bundle keeps open is not our concern.
process.exit(0);
