/** An AWS client that answers as a test says, for answers that no emulator gives; what is sent is kept. */
export interface Sent {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

type Answering = (sent: Sent, index: number) => unknown;

/** Stands in for the one method that the adapters use. An `Error` as answer is thrown. */
export function fakeClient<Client extends { send: unknown }>(answer: Answering): { client: Client; sent: Sent[] } {
  const sent: Sent[] = [];
  const send = async (command: { input: Sent['input'] }): Promise<unknown> => {
    const call = { name: command.constructor.name, input: command.input };
    sent.push(call);
    const result = answer(call, sent.length - 1);
    if (result instanceof Error) throw result;
    return result;
  };
  // The SDK's `send` is overloaded for every command; the adapters hand it theirs and read their output.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { client: { send } as unknown as Client, sent };
}

/** An error as the SDK throws it for an answer of the service. */
export function serviceError(code: string, fault: 'client' | 'server', message = 'because'): Error {
  return Object.assign(new Error(message), { name: code, $fault: fault, $metadata: {} });
}
