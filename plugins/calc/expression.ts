/** Parentheses inside each other. */
const MAX_NESTING = 128;

/** What is wrong with an expression, in words for whoever wrote it. */
export class ExpressionError extends Error {}

/**
 * The value of an expression of numbers, `+ - * / %`, signs and parentheses. `%` is the remainder and
 * takes the sign of its left side. Throws {@link ExpressionError}. Works in one pass.
 */
export function evaluate(expression: string): number {
  const reader = { text: expression, at: 0, depth: 0 };
  const value = sum(reader);
  if (peek(reader) !== '') throw unexpected(reader);
  return value === 0 ? 0 : value;
}

interface Reader {
  readonly text: string;
  at: number;
  depth: number;
}

const SPACE = /\s*/y;
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;

/** The next character that is not a space; empty at the end. */
function peek(reader: Reader): string {
  SPACE.lastIndex = reader.at;
  SPACE.exec(reader.text);
  reader.at = SPACE.lastIndex;
  return reader.text.charAt(reader.at);
}

function sum(reader: Reader): number {
  let value = product(reader);
  for (let sign = peek(reader); sign === '+' || sign === '-'; sign = peek(reader)) {
    reader.at += 1;
    const right = product(reader);
    value = finite(sign === '+' ? value + right : value - right);
  }
  return value;
}

function product(reader: Reader): number {
  let value = signed(reader);
  for (let sign = peek(reader); sign === '*' || sign === '/' || sign === '%'; sign = peek(reader)) {
    const place = reader.at;
    reader.at += 1;
    const right = signed(reader);
    if (right === 0 && sign !== '*') throw new ExpressionError(`division by zero at character ${place + 1}`);
    value = finite(sign === '*' ? value * right : sign === '/' ? value / right : value % right);
  }
  return value;
}

/** Signs are counted, not nested: a long row of them takes no stack. */
function signed(reader: Reader): number {
  let negative = false;
  for (let sign = peek(reader); sign === '-' || sign === '+'; sign = peek(reader)) {
    negative = negative !== (sign === '-');
    reader.at += 1;
  }
  const value = operand(reader);
  return negative ? -value : value;
}

function operand(reader: Reader): number {
  if (peek(reader) === '(') return inParentheses(reader);
  NUMBER.lastIndex = reader.at;
  const digits = NUMBER.exec(reader.text)?.[0];
  if (digits === undefined) throw unexpected(reader);
  reader.at += digits.length;
  return finite(Number(digits));
}

function inParentheses(reader: Reader): number {
  if (reader.depth === MAX_NESTING) throw new ExpressionError(`parentheses are nested more than ${MAX_NESTING} deep`);
  reader.depth += 1;
  reader.at += 1;
  const value = sum(reader);
  if (peek(reader) !== ')') throw unexpected(reader);
  reader.at += 1;
  reader.depth -= 1;
  return value;
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new ExpressionError(`a value is beyond ${Number.MAX_VALUE}`);
}

function unexpected(reader: Reader): ExpressionError {
  if (reader.at >= reader.text.length) return new ExpressionError('the expression ends where a value or ")" is missing');
  const shown = JSON.stringify([...reader.text.slice(reader.at, reader.at + 2)][0] ?? '');
  return new ExpressionError(`${shown} at character ${reader.at + 1} is not expected; use numbers, + - * / % and parentheses`);
}
