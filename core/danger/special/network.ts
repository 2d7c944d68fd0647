import { type Field, isKnown, literal } from '../fields.ts';
import { leadsInside } from '../internal-host.ts';
import { judgeArguments, judgeRole } from '../judge-arguments.ts';
import type { GivenOption } from '../options.ts';
import { judgeCarry, judgeRead, judgeWrite } from '../paths.ts';
import type { Call, Special } from './call.ts';

const READING_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const SECRET_HEADER =
  /^(?:authorization|proxy-authorization|cookie|x-api-key|x-auth|api-key|x-amz|private-token|.*token|.*secret|.*api[-_]?key)\s*:/i;

/** `curl` and `wget`: what is asked for, and what leaves the machine with the question. */
export const curl: Special = (call) => {
  const { name, rule, args, scope, inspection } = call;
  inspection.add('network_egress', `${name} reaches another machine`);
  const { options, operands } = judgeArguments(name, rule, args, scope, inspection);
  for (const { name: option, value } of options) {
    if (option.startsWith('--expand-')) inspection.add('network_upload', `${name} puts the content of variables into the question`);
    if (value === undefined) continue;
    if (!isKnown(value)) inspection.add('network_upload', `${name} sends text that is only known at run time`);
    if (option === '-w' && value.text.startsWith('@')) judgeRead(literal(value.text.slice(1)), scope, inspection);
    const named = option === '--data-urlencode' ? /^[^=@]*@(.*)$/s.exec(value.text)?.[1] : undefined;
    if (named !== undefined) {
      inspection.add('network_upload', `${name} sends the file ${named.slice(0, 80)}`);
      judgeRead(literal(named), scope, inspection);
    }
    if ((option === '-X' || option === '--method') && (!isKnown(value) || !READING_METHODS.has(value.text.toUpperCase())))
      inspection.add('network_upload', `${name} uses the method ${value.text.slice(0, 20).replaceAll('\0', '…')}, which changes something`);
    if (option === '-H' || option === '--header') judgeHeader(call, value.text);
    if (option === '-w' && /%output\{/.test(value.text)) inspection.add('unknown', 'curl -w writes a file');
  }
  const urls = options.flatMap(({ name: option, value }) => (option === '--url' && value !== undefined ? [value] : []));
  for (const operand of operands) judgeRole('address', operand, name, scope, inspection);
  for (const { text } of [...operands, ...urls]) judgeHostOf(text, call);
  judgeStored(call, options, [...operands, ...urls]);
  return undefined;
};

/** Where no name is given, what is stored gets the last name of its address. */
function judgeStored({ name, scope, inspection }: Call, options: readonly GivenOption[], urls: readonly Field[]): void {
  const named = options.some((option) => option.name === (name === 'curl' ? '-o' : '-O') && option.value !== undefined);
  if (named || (name === 'curl' && !options.some((option) => option.name === '-O'))) return;
  for (const { text } of urls) {
    const last = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#]*\/(?:[^?#]*\/)?([^/?#]+)/i.exec(text)?.[1];
    if (last !== undefined) judgeWrite(literal(last), scope, inspection);
  }
}

/** What a cluster is asked for can be its secrets: `get secret/x`, `get cm,secrets`, `get all` of a name that is not known. */
export const kubectl: Special = ({ name, rule, args, scope, inspection }) => {
  judgeArguments(name, rule, args, scope, inspection);
  const secret = args.some((field) => !isKnown(field) || /(?:^|[,=])secrets?(?:$|[./,])|^--raw/i.test(field.text));
  if (secret) inspection.add('system_write', `${name} can show secrets of the cluster`);
  return undefined;
};

/** Looking a name up tells it to others; `getent` does so for hosts alone. */
export const lookup: Special = ({ name, rule, args, scope, inspection, stdin }) => {
  const { operands, options } = judgeArguments(name, rule, args, scope, inspection);
  if (options.some((option) => option.name === '-f')) inspection.add('network_upload', `${name} asks for what a file holds`);
  if (name === 'getent') {
    if (isKnown(operands[0] ?? literal('')) && !/^a?hosts/.test(operands[0]?.text ?? '')) return undefined;
    inspection.add('network_egress', 'getent asks for a name');
  }
  const open = args.some((field) => !isKnown(field));
  if (open || (stdin !== undefined && name !== 'getent'))
    inspection.add('network_upload', `${name} sends text that is only known at run time`);
  return undefined;
};

/**
 * A host of this machine or its network, also in the sets of hosts that curl expands itself (`{a,b}`, `[1-9]`).
 * A name of one word is left out: only the machine's own resolver knows what it leads to.
 */
function judgeHostOf(text: string, { name, inspection }: Parameters<Special>[0]): void {
  const authority = /^(?:[a-z][a-z0-9+.-]*:\/+)?\/*([^/?#\\]*)/i.exec(text)?.[1] ?? '';
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/%[^\]]*\]/, ']');
  if (host === '' || !isKnown(literal(host))) return;
  const isUnclear = /[{}]|\[[^\]:]*\]/.test(host) || URL.parse(`http://${host}`) === null;
  if (isUnclear) inspection.add('system_write', `${name} reaches whatever ${host.slice(0, 80)} stands for`);
  else if (!isOneWord(host) && leadsInside(host, inspection.place.reachable ?? []))
    inspection.add('system_write', `${host} is this machine or in its network`);
}

function isOneWord(host: string): boolean {
  const name = (URL.parse(`http://${host}`)?.hostname ?? '').replace(/\.$/, '');
  return name !== 'localhost' && !/[.[]/.test(name);
}

function judgeHeader({ inspection, scope, name }: Parameters<Special>[0], header: string): void {
  if (header.startsWith('@')) {
    inspection.add('network_upload', `${name} sends a file as headers`);
    judgeRead(literal(header.slice(1)), scope, inspection);
  } else if (!isKnown(literal(header)) || SECRET_HEADER.test(header.slice(0, 256)))
    inspection.add('network_upload', `${name} sends a header that can hold a secret`);
}

/** `rsync` and `scp`: the last operand is written, `host:path` is another machine. */
export const remoteCopy: Special = ({ name, rule, args, scope, inspection }) => {
  const { operands } = judgeArguments(name, rule, args, scope, inspection);
  const isRemote = (text: string): boolean => /^[^/]*:/.test(text) || /^(?:rsync|scp|sftp|ssh):\/\//.test(text);
  const target = operands.at(-1);
  for (const source of operands.slice(0, -1)) {
    if (isRemote(source.text)) inspection.add('network_egress', `${name} gets files from another machine`);
    else {
      judgeRead(source, scope, inspection);
      if (target !== undefined && !isRemote(target.text)) judgeCarry(source, target, scope, inspection);
    }
  }
  if (target === undefined) return undefined;
  if (isRemote(target.text)) {
    inspection.add('network_egress', `${name} reaches another machine`);
    inspection.add('network_upload', `${name} sends files to another machine`);
  } else if (operands.length > 1) judgeWrite(target, scope, inspection);
  return undefined;
};
