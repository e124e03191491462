/** What the YAML parser cannot read, for the author of the file. */

/** Uses of one anchor; a scenario may repeat a node many times. */
export const MAX_ALIASES = 100_000;

export const TOO_DEEP = 'is nested too deeply to be read';

/** The parser recurses; what it throws may already be an error of its own. */
export const isOverflow = (message: string): boolean => message.includes('call stack size exceeded');

/** It says of an anchor that is used too often that it is an attack. */
export function describeYamlFailure(message: string): string {
  if (isOverflow(message)) return TOO_DEEP;
  return message.startsWith('Excessive alias count') ? `anchors are used more than ${MAX_ALIASES} times` : message;
}
