/**
 * Rules of composite alarms as CloudWatch reads and evaluates them, by the reference of `PutCompositeAlarm`: no emulator here has it. What the
 * reference does not have is an error.
 */
export type AlarmState = 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';
/** The state of an alarm, by its name or ARN. */
export type StateOf = (alarm: string) => AlarmState;

/** Most characters and different alarms of a rule, and most elements: alarms, TRUE or FALSE, and brackets. */
export const LIMITS = { characters: 10_240, alarms: 100, elements: 500 };

export interface ParsedRule {
  /** Each alarm that it names, as often as it does. */
  readonly alarms: readonly string[];
  readonly elements: number;
  /** Whether the composite alarm is in the state ALARM. */
  readonly rings: (stateOf: StateOf) => boolean;
}

const TOKEN =
  /\s*(?:(?<state>ALARM|OK|INSUFFICIENT_DATA)\s*\(\s*(?:"(?<quoted>[^"]+)"|(?<bare>[^\s()"]+))\s*\)|(?<word>(?:AND|OR|NOT|TRUE|FALSE)\b|[()]))/y;

type Token = Readonly<Partial<Record<'state' | 'quoted' | 'bare' | 'word', string>>>;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const { length } = text.trimEnd();
  for (let at = 0; at < length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const token: Token | undefined = TOKEN.exec(text)?.groups;
    if (token === undefined) throw new Error(`no rule: ${text.slice(at)}`);
    tokens.push(token);
  }
  return tokens;
}

/** `NOT` binds before `AND`, `AND` before `OR`. */
export function parseAlarmRule(text: string): ParsedRule {
  const tokens = tokensOf(text);
  let at = 0;
  const take = (word: string): boolean => {
    if (tokens[at]?.word !== word) return false;
    at += 1;
    return true;
  };
  const either = (): ParsedRule['rings'] => {
    const parts = [both()];
    while (take('OR')) parts.push(both());
    return stateOf => parts.some(part => part(stateOf));
  };
  const both = (): ParsedRule['rings'] => {
    const parts = [one()];
    while (take('AND')) parts.push(one());
    return stateOf => parts.every(part => part(stateOf));
  };
  const one = (): ParsedRule['rings'] => {
    if (take('NOT')) {
      const negated = one();
      return stateOf => !negated(stateOf);
    }
    if (take('TRUE')) return () => true;
    if (take('FALSE')) return () => false;
    if (take('(')) {
      const inner = either();
      if (!take(')')) throw new Error('a bracket is not closed');
      return inner;
    }
    const { state, quoted, bare = quoted } = tokens[at] ?? {};
    if (state === undefined || bare === undefined) throw new Error('an alarm is missing');
    at += 1;
    return stateOf => stateOf(bare) === state;
  };
  const rings = either();
  if (at < tokens.length) throw new Error(`nothing joins what follows: ${JSON.stringify(tokens[at])}`);
  const alarms = tokens.flatMap(({ quoted, bare = quoted }) => bare ?? []);
  const elements = tokens.filter(({ word }) => word === undefined || /^[()TF]/.test(word)).length;
  return { alarms, elements, rings };
}
