/** Texts as SQS takes them. */

/** Attributes count towards the message's size limit, and a person reads them in a console. */
export const MAX_EXPLANATION_CHARS = 1000;

/** Characters that SQS refuses in text: all but tab, line feed, carriage return and the characters of XML 1.0. */
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const REFUSED = /[^\u0009\u000A\u000D\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** SQS takes neither an empty text nor a control character; the message must be parked anyway. */
export function acceptableText(text: string, maxChars: number = Infinity): string {
  const cut = text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
  return cut.toWellFormed().replace(REFUSED, '\uFFFD') || '(empty)';
}
