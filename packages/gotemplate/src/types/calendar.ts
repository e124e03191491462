/** The Gregorian calendar, and division that rounds down. */
import type { Civil } from './time-format.ts';

export const floorDiv = (a: bigint, b: bigint): bigint => a / b - (a % b < 0n ? 1n : 0n);

/** Days since 1970 to year, month and day of the Gregorian calendar, in eras of 400 years from 1 March of year 0. */
export function date(days: number): Pick<Civil, 'year' | 'month' | 'day' | 'yearDay'> {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const fromMarch = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * fromMarch + 2) / 153);
  const day = fromMarch - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day, yearDay: days - daysTo(year, 1, 1) + 1 };
}

/** Days from 1970 to a date; months and days out of range carry over. */
export function daysTo(year: number, month: number, day: number): number {
  const y = year + Math.floor((month - 1) / 12) - (mod(month - 1, 12) < 2 ? 1 : 0);
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * mod(month - 3, 12) + 2) / 5);
  return (
    era * 146_097 +
    yearOfEra * 365 +
    Math.floor(yearOfEra / 4) -
    Math.floor(yearOfEra / 100) +
    dayOfYear -
    719_468 +
    day -
    1
  );
}

export const mod = (a: number, b: number): number => ((a % b) + b) % b;
