/**
 * Sentences of an answer that say that nothing was done. English, and conservative: a sentence that
 * names one target, makes a condition, quotes or reports somebody is passed over.
 */

/** What a sentence denies. `blocked` and `command` are only wrong where nothing was refused or failed. */
export type Denial = 'changes' | 'commands' | 'command' | 'blocked' | 'anything';

/** UTF-16 units of an answer that are looked at. */
const READ_CHARS = 32_768;
const MAX_SENTENCE = 400;

/** Words that make a denial partial, conditional or somebody else's. */
const QUALIFIED =
  /\b(?:if|whether|unless|until|except|besides|apart|aside|beyond|other|others|otherwise|further|additional|else|more|extra|unrelated|initially|earlier|previously|originally|before|after|yet|again|when|while|once|would|could have|should|will|may|might|needed|required|necessary|expected|instead|dry[- ]run|so far|says?|said|reports?|reported|states?|stated|claims?|claimed|prints?|printed|logs?|logged|shows?|showed|not (?:true|correct|the case))\b/i;

/** Behind "no changes were made": a target that is not everything. */
const ONE_TARGET =
  '(?!\\s+(?:to|in|on|for|by|from|inside|outside|under|within|at|with)\\b(?!\\s+(?:(?:any|the|your|this|my|all)\\s+)?(?:files?|code|codebase|repo|repository|project|system|workspace|disk|filesystem|environment|sandbox|session|run|policy|working directory)\\s*$))';
const NOT = "(?:did not|didn't|have not|haven't|was not able to|wasn't able to|was unable to|am unable to|could not|couldn't|cannot|can't)";

const PATTERNS: readonly (readonly [denial: Denial, pattern: RegExp])[] = [
  [
    'changes',
    /^(?:so |thus |therefore,? |unfortunately,? )?no (?:files?|changes?|edits?|modifications?|writes?) (?:was|were|has been|have been) (?:actually )?(?:made|written|changed|modified|created|edited|applied|saved|performed)\b/,
  ],
  ['changes', new RegExp(`\\bi ${NOT} (?:actually )?(?:make|made|apply|applied|write|written) any (?:changes?|edits?|modifications?)\\b`)],
  [
    'changes',
    new RegExp(
      `\\bi ${NOT} (?:actually )?(?:change|changed|modify|modified|write|written|wrote|edit|edited|create|created|touch|touched|save|saved) (?:anything|any files?|any of the files)\\b`,
    ),
  ],
  ['changes', /\bi (?:have )?(?:made|applied) no (?:changes?|edits?|modifications?)\b/],
  ['changes', /\bnothing (?:was|has been) (?:actually )?(?:changed|modified|written|created|edited|saved)\b/],
  ['changes', /\b(?:all|the) files (?:remain|are|were left) (?:completely )?(?:unchanged|untouched|unmodified)\b/],
  ['commands', /\b(?:no|none of the) commands? (?:was|were|has been|have been) (?:actually )?(?:run|executed)\b/],
  ['commands', new RegExp(`\\bi ${NOT} (?:actually )?(?:run|execute|executed) any (?:shell )?commands?\\b`)],
  ['command', /\bthe (?:shell )?commands? (?:did not|didn't|never|could not|couldn't) (?:actually )?(?:run|execute)\b/],
  ['command', /\bthe (?:shell )?commands? (?:was|were) (?:not|never) (?:actually )?(?:run|executed)\b/],
  ['anything', /\bnothing (?:was|has been) (?:actually )?(?:run|executed|done)\b/],
  ['anything', new RegExp(`\\bi ${NOT} (?:actually )?(?:run|execute|executed|do|done) anything\\b`)],
  [
    'blocked',
    /\b(?:shell|command|file|write|tool|terminal)(?: (?:access|execution|writes?|calls?|use|system access))? (?:is|are|was|were|has been|have been) (?:currently |all )?blocked\b/,
  ],
  ['blocked', /\bthe (?:shell )?(?:commands?|edits?|changes?) (?:is|are|was|were|has been|have been) blocked\b/],
];

const SCOPED = new RegExp(`${ONE_TARGET}`, 'y');

/** What only shows or repeats text: code, quotes, quoted lines. */
function spoken(answer: string): string {
  return answer
    .slice(0, READ_CHARS)
    .replaceAll('’', "'")
    .replace(/```[^`]*(?:```|$)/g, '\n')
    .replace(/`[^`\n]*`/g, ' x ')
    .replace(/^\s*>.*$/gm, '')
    .replace(/"[^"\n]{0,400}"|“[^”\n]{0,400}”/g, ' x ')
    .replace(/[*_]/g, '');
}

function sentencesOf(answer: string): string[] {
  return spoken(answer)
    .split(/[.!?](?=\s|$)|[\n;]|, (?:but|and|so) /)
    .map((sentence) => sentence.replace(/^[\s\-•\d.)]+/, '').trim())
    .filter((sentence) => sentence !== '' && sentence.length <= MAX_SENTENCE);
}

function denials(sentence: string): Denial[] {
  if (QUALIFIED.test(sentence)) return [];
  const lower = sentence.toLowerCase();
  return PATTERNS.flatMap(([denial, pattern]) => {
    const match = pattern.exec(lower);
    if (match === null) return [];
    SCOPED.lastIndex = match.index + match[0].length;
    return SCOPED.test(lower) ? [denial] : [];
  });
}

/** What an answer denies having done; empty for nearly every answer. */
export function denialsIn(answer: string): ReadonlySet<Denial> {
  return new Set(sentencesOf(answer).flatMap(denials));
}
