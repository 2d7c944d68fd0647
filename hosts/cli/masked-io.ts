import { createRedactor, type Redactor } from '../../core/redact/redactor.ts';
import { environmentSecrets } from '../config/environment-secrets.ts';
import type { TerminalIo } from './command.ts';

function maskedStream(stream: NodeJS.WritableStream, redactor: () => Redactor): NodeJS.WritableStream {
  const write = (piece: unknown, ...rest: never[]): boolean => {
    const text = typeof piece === 'string' ? redactor().text(piece) : piece;
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
 * The same streams, masked: each text that is written has the secrets hidden that are known then, which
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
    stdout: maskedStream(io.stdout, redactor),
    stderr: maskedStream(io.stderr, redactor),
    mask(known) {
      secrets = known;
      made = undefined;
    },
  };
}
