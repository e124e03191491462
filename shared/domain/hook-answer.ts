/** The answer of the user's code at a hook or a clean-up. */
export type HookAnswer =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly message: string }
  /** Taken on; the worker answers later by an event. */
  | { readonly kind: 'pending' };
