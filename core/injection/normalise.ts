/** The text as a model reads it: what hides words from a plain search is taken away before the rules look. */

/** Each Latin letter, and the letters of other scripts that look like it. Compatibility forms are folded by NFKC before. */
const GROUPS =
  'AАΑ BВΒ CС EЕΕ HНΗ IІΙ JЈ KКΚ MМΜ NΝ OОΟ PРΡ SЅ TТΤ XХΧ YУΥ ZΖ aаαɑ bвβ cсϲ dԁ ' +
  'eеҽεᴇ gɡց hһհ iіїιıɪ jј kкκ lӏ mм nпηɴո oоοᴏօ pрρ qԛ rʀ sѕꜱ tтτ uцυս vѵν wԝω xхχ yуγ';
const LOOKALIKES = new Map(GROUPS.split(' ').flatMap(([latin = '', ...others]) => others.map((letter) => [letter, latin] as const)));

const ASCII_ONLY = /^\p{ASCII}*$/u;
const LOOKALIKE = new RegExp(`[${[...LOOKALIKES.keys()].join('')}]`, 'gu');
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;
/** Marks at the beginning of a line of a comment, a quotation, a list or a numbered file. */
const LINE_MARKS = /[\r\n]+[ \t]*(?:\d{1,7}\|)?[ \t]*(?:\/\/+|#+|\*+|>+|--+|\|)?[ \t]*/g;
const SPACES = /\s{2,}|[^\S ]/g;
const CONTROLS = /\p{Cc}/gu;
const EMPHASIS = /[*`]+/g;
/** Letters set apart, one by one: `i g n o r e`. */
const SPACED = /\b[a-z](?:[ ._-][a-z]){5,40}\b/gi;

const ESCAPE = /\\(?:[nrt"'/]|u00(?:[0-7][0-9a-f]))/gi;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\n', t: '\t' };

/** Text that stands inside a string of JSON or of a program, as it reads. */
export function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (found) => {
    const what = found.slice(1);
    return what.length > 1 ? String.fromCharCode(Number.parseInt(what.slice(1), 16)) : (ESCAPED[what] ?? what);
  });
}

/** Without what no eye sees. */
export function withoutUnseen(text: string): string {
  return ASCII_ONLY.test(text) ? text : text.replace(UNSEEN, '');
}

/** One line, single spaces, without comment and emphasis marks; letters that were set apart are joined. */
export function flattened(text: string): string {
  const line = text.replace(LINE_MARKS, ' ').replace(CONTROLS, ' ').replace(EMPHASIS, '').replace(SPACES, ' ');
  return line.replace(SPACED, (word) => word.replaceAll(/[ ._-]/g, ''));
}

/** Letters that look like Latin ones, as those. The same text when there is none. */
export function folded(text: string): string {
  if (ASCII_ONLY.test(text)) return text;
  return text.normalize('NFKC').replace(LOOKALIKE, (letter) => LOOKALIKES.get(letter) ?? letter);
}
