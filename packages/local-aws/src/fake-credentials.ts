/** Of the account itself, which may do everything. Signs requests to servers that do not verify signatures. */
export const FAKE_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' } as const;
