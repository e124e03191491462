/** Commands of PyPI, each with its packages in a folder of its own. In CI they are installed where they are missing; elsewhere what needs them is skipped, with the reason. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** With its packages, moto has 200 MB. */
const TIMEOUT_MS = 420_000;

export interface PythonCommand {
  /** Of its file. */
  readonly command: string;
  /** Of its folder. */
  readonly name: string;
  /** As pip is told it. */
  readonly requirement: string;
  /** The environment variable that may name another file. */
  readonly variable: string;
}

const folderOf = ({ name }: PythonCommand): string => join(homedir(), '.cache', 'curfew', name);

export const pathOf = (tool: PythonCommand): string =>
  process.env[tool.variable] ?? join(folderOf(tool), 'bin', tool.command);

/** Why it cannot be run; undefined: it can. */
export function reasonToSkip(tool: PythonCommand): string | undefined {
  const { name, requirement, variable } = tool;
  const folder = folderOf(tool);
  if (existsSync(pathOf(tool))) return undefined;
  const how = `python3 -m venv ${folder} && ${folder}/bin/pip install '${requirement}', or set ${variable}`;
  if (process.env['CI'] !== 'true') return `${name} is not installed: ${how}`;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    execFileSync('python3', ['-m', 'venv', folder], { stdio: 'pipe', timeout: TIMEOUT_MS });
    const install = ['install', '-q', requirement];
    execFileSync(join(folder, 'bin', 'pip'), install, { stdio: 'pipe', timeout: TIMEOUT_MS });
  } catch (error) {
    return `${name} cannot be installed (${error instanceof Error ? error.message.split('\n')[0] : ''}): ${how}`;
  }
  return existsSync(pathOf(tool)) ? undefined : `${name} is not there: ${how}`;
}
