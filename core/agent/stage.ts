/** A stage and the state it works on name each other, so they live in one file. */
export type { AnswerVerdict, EndedCall, Stage } from './state.ts';
