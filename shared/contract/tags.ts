/** AWS tag on everything that belongs to one function: splits the bill, and tells the local stack which function is which. */
export const FUNCTION_TAG = 'curfew.dev/function';
