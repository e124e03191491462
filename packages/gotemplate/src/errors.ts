/** Everything this package throws. `message` is Go's own text where Go has one. */

/** Where in which template; line counts from 1, column in bytes from 0, as Go prints them. */
export interface Place {
  /** Name of the text that was parsed: the template's own or that of the template which defines it. */
  readonly template: string;
  readonly line: number;
  /** Known for every execution error; a parse error has it where the offending token starts. */
  readonly column: number | undefined;
}

export abstract class TemplateError extends Error {
  abstract readonly kind: 'parse' | 'exec' | 'limit' | 'data';
  readonly template: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(message: string, place?: Place) {
    super(message);
    this.name = new.target.name;
    this.template = place?.template;
    this.line = place?.line;
    this.column = place?.column;
  }
}

/** The text is not a template. */
export class ParseError extends TemplateError {
  readonly kind = 'parse';
}

/** The template cannot be executed with this data. */
export class ExecError extends TemplateError {
  readonly kind = 'exec';
}

/** A limit of this package was reached; Go would have gone on. */
export class LimitError extends TemplateError {
  readonly kind = 'limit';
}

/** The data is not what a template can be given, or not what its declared type says; `path` says where. */
export class DataError extends TemplateError {
  readonly kind = 'data';
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`template data: ${path === '' ? 'root' : path}: ${problem}`);
    this.path = path;
  }
}

/** What a function says went wrong; inside the package only, its message is a Go string. */
export class CallError extends Error {}
