/** The one version of all parts; `npm version` writes it, here and wherever else it stands. */
export const VERSION = '0.1.0';
