const MAX_SUMMARY_CHARS = 300;
const MAX_MEDIA_TYPE_CHARS = 100;
const SHORT_HASH_CHARS = 12;
/** Control, format (bidi marks), surrogate and ignorable characters, line and paragraph separators. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;

export interface LineFacts {
  /** As the model asks for it. */
  readonly id: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly summary?: string | undefined;
}

/** Text on one line without anything that hides or turns it. */
export function flattenedLine(text: string, maxChars: number): string {
  const flat = text.replace(HIDDEN, ' ').replace(/ {2,}/g, ' ').trim();
  const characters = [...flat];
  return characters.length <= maxChars ? flat : `${characters.slice(0, maxChars - 1).join('')}…`;
}

/** What a model is told of an artifact: `[artifact <id> · <media type> · <n> bytes · sha256:<12 digits> · <summary>]`. Never the path, never the content. */
export function artifactLine({ id, mediaType, sizeBytes, sha256, summary }: LineFacts): string {
  const about = flattenedLine(summary ?? '', MAX_SUMMARY_CHARS);
  const facts = [
    `artifact ${id}`,
    flattenedLine(mediaType, MAX_MEDIA_TYPE_CHARS),
    `${sizeBytes} bytes`,
    `sha256:${sha256.slice(0, SHORT_HASH_CHARS)}`,
  ];
  return `[${[...facts, ...(about === '' ? [] : [about])].join(' · ')}]`;
}
