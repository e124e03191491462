/**
 * Where the stand-in for DynamoDB keeps its data: in memory, where the system has a folder for that. On a disk each write is synced, and
 * costs processors that everything measured shares. Production has neither.
 */
import { accessSync, constants, statfsSync } from 'node:fs';
import { createTempFolder, type TempFolder } from '../../cli/start/temp-folder.ts';

/** Of Linux. In a container it may be as small as 64 MiB. */
const IN_MEMORY = '/dev/shm';
const ROOM_MIN_BYTES = 512 * 1024 * 1024;

export interface DataFolder extends TempFolder {
  readonly medium: 'memory' | 'disk';
}

/** @param inMemory where the system keeps files in memory */
export function createDataFolder(inMemory: string = IN_MEMORY): DataFolder {
  if (roomIn(inMemory) < ROOM_MIN_BYTES) return { ...createTempFolder(), medium: 'disk' };
  return { ...createTempFolder(inMemory), medium: 'memory' };
}

/** Bytes that may be written; none where there is no such folder. */
function roomIn(folder: string): number {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
