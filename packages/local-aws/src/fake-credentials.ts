/** Signs requests to servers that do not look at signatures. */
export const FAKE_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' } as const;
