/** When a line is not yet the whole input. */

function openFence(text: string): boolean {
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (marks === undefined) continue;
    if (fence === undefined) fence = marks;
    else if (marks.startsWith(fence) && line.trim() === marks) fence = undefined;
  }
  return fence !== undefined;
}

/** An odd number of backslashes at the end, or a code fence that is still open. */
export function isIncomplete(text: string): boolean {
  const trailing = /\\*$/.exec(text)?.[0].length ?? 0;
  return trailing % 2 === 1 || openFence(text);
}

/** The text to go on from: a continuing backslash is taken away, the newline stays. */
export function continued(text: string): string {
  return `${openFence(text) || !text.endsWith('\\') ? text : text.slice(0, -1)}\n`;
}
