/** A pattern that EventBridge would refuse. */
export class EventPatternError extends Error {
  constructor(path: string, problem: string) {
    super(`the event pattern is not valid: ${path === '' ? 'it' : path} ${problem}`);
    this.name = 'EventPatternError';
  }
}
