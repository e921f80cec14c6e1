import { type FieldProblem } from '../errors.js';

/** Stable names of what can be wrong with an expression. */
export type CronProblemKind =
  | 'field_count'
  | 'too_long'
  | 'empty_item'
  | 'bad_token'
  | 'bad_modifier'
  | 'bad_step'
  | 'out_of_range'
  | 'reversed_range'
  | 'day_fields'
  | 'never_fires';

/** Where something stands in an expression; `position` counts the characters of the whole expression from 1. */
export interface Token {
  readonly text: string;
  readonly position: number;
}

/** A refused part of `cron_expr`. */
export interface CronProblem extends FieldProblem {
  readonly kind: CronProblemKind;
  readonly token: string;
  readonly position: number;
}

const MAX_SHOWN = 64;

/** `problem` is a predicate of the token, such as "is out of range"; `place` the field that it stands in. */
export function cronProblem(
  kind: CronProblemKind,
  { text, position }: Token,
  problem: string,
  fix: string,
  place = '',
): CronProblem {
  const token = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  const where = place === '' ? '' : `${place}: `;
  return {
    field: 'cron_expr',
    problem: `${where}"${token}" ${problem} (${kind}, position ${position})`,
    fix,
    kind,
    token,
    position,
  };
}
