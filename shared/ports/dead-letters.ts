import type { FunctionName } from '../contract/names.ts';

/** Parks a message that trying again cannot help, with the reason, where an alarm watches (I9). */
export interface DeadLetters {
  park(message: {
    readonly function: FunctionName;
    readonly body: string;
    readonly reason: string;
    readonly explanation: string;
  }): Promise<void>;
}
