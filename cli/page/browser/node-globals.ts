/** What `explain` uses of Node's globals, in a browser. */
const encoder = new TextEncoder();

export const Buffer = { byteLength: (text: string): number => encoder.encode(text).length };
