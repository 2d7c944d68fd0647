import { createRedactor, type Redactor } from '../../core/redact/redactor.ts';
import { environmentSecrets } from '../config/environment-secrets.ts';
import type { TerminalIo } from './command.ts';

/**
 * What a terminal may act on, or a person cannot see, and odek itself never writes: DEL, C1, marks of direction, tags. As an escape of
 * JSON, since a line may be JSON.
 */
const STEERS = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu;

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
}

function maskedStream(stream: NodeJS.WritableStream, isTerminal: boolean, redactor: () => Redactor): NodeJS.WritableStream {
  const shown = (text: string): string => (isTerminal ? text.replace(STEERS, escaped) : text);
  const write = (piece: unknown, ...rest: never[]): boolean => {
    const text = typeof piece === 'string' ? shown(redactor().text(piece)) : piece;
    return stream.write(text as string, ...rest);
  };
  return new Proxy(stream, {
    get(target, name) {
      if (name === 'write') return write;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/**
 * The same streams, masked; a terminal gets no character that could steer it but those that odek writes: each text that is written has the secrets hidden that are known then, which
 * are those of `env` until `mask` was called. What runs tell is masked before it gets here; this is for everything else, such
 * as error messages and warnings.
 */
export function maskedIo(io: TerminalIo, env: Readonly<Record<string, string | undefined>>): TerminalIo {
  let secrets: readonly string[] | undefined;
  let made: Redactor | undefined;
  const redactor = (): Redactor => {
    made ??= createRedactor(secrets ?? environmentSecrets(env));
    return made;
  };
  return {
    ...io,
    stdout: maskedStream(io.stdout, io.stdoutIsTty, redactor),
    stderr: maskedStream(io.stderr, io.stderrIsTty, redactor),
    mask(known) {
      secrets = known;
      made = undefined;
    },
  };
}
