import type { Delivery } from '../../../ports/schedule.ts';

/** A result as people read it in a stream or a file: which job, when it was due, whether it may have come before. */
export function asEntry({ jobName, dueAt, maybeRepeat, text }: Pick<Delivery, 'jobName' | 'dueAt' | 'maybeRepeat' | 'text'>): string {
  const repeat = maybeRepeat ? ' (possible repeat)' : '';
  return `--- ${jobName}, ${new Date(dueAt).toISOString().slice(0, 16)}Z${repeat}\n${text.trimEnd()}\n`;
}
