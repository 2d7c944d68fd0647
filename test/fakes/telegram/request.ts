import type { IncomingMessage } from 'node:http';

export interface UploadedFile {
  readonly field: string;
  readonly name: string;
  readonly bytes: Buffer;
}

// biome-ignore lint/suspicious/noExplicitAny: a parse boundary that tests look into.
export type Params = Record<string, any>;

const MAX_BODY_BYTES = 64 * 1024 * 1024;

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new Error('the body is too large');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** Form fields that hold JSON are read as JSON, as the service does. */
function fieldValue(text: string): unknown {
  if (!/^[[{]|^-?\d+$|^(true|false)$/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function readForm(body: Buffer, boundary: string): { params: Params; files: UploadedFile[] } {
  const params: Params = {};
  const files: UploadedFile[] = [];
  const mark = Buffer.from(`--${boundary}`);
  for (let at = body.indexOf(mark); at >= 0; ) {
    const next = body.indexOf(mark, at + mark.length);
    if (next < 0) break;
    // After the mark CRLF, before the next one CRLF.
    const part = body.subarray(at + mark.length + 2, next - 2);
    const headEnd = part.indexOf('\r\n\r\n');
    const head = part.subarray(0, headEnd).toString('utf8');
    const value = part.subarray(headEnd + 4);
    const name = /;\s*name="([^"]*)"/i.exec(head)?.[1] ?? '';
    const filename = /;\s*filename="?([^"\r\n]*)"?/i.exec(head)?.[1];
    if (filename === undefined) params[name] = fieldValue(value.toString('utf8'));
    else files.push({ field: name, name: filename, bytes: Buffer.from(value) });
    at = next;
  }
  return { params, files };
}

export async function readRequest(incoming: IncomingMessage): Promise<{ params: Params; files: UploadedFile[] }> {
  const type = incoming.headers['content-type'] ?? '';
  const body = await readBody(incoming);
  const boundary = /boundary=(\S+)/.exec(type)?.[1];
  if (boundary !== undefined) return readForm(body, boundary);
  return { params: body.length === 0 ? {} : (JSON.parse(body.toString('utf8')) as Params), files: [] };
}
