import {
  AuthorizationServerMismatchError,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client';
import { CancelledError, isOdekError } from '../../../ports/errors.ts';
import { McpError, type McpHttpServer } from '../../../ports/mcp.ts';

const MAX_CAUSES = 5;

/** What went wrong with a login, without a word that an answer held beside its error code: it may repeat a secret. */
export function loginFailure(error: unknown, server: McpHttpServer, doing: string): Error {
  const causes: unknown[] = [];
  for (let each = error; each !== undefined && each !== null && causes.length < MAX_CAUSES; each = (each as { cause?: unknown }).cause) {
    causes.push(each);
  }
  const known = causes.find((each) => each instanceof McpError || each instanceof CancelledError);
  if (known !== undefined) return known as Error;
  const why = causes.map(reasonOf).find((reason) => reason !== undefined) ?? 'an answer is not what the protocol wants';
  return failed(server, `${doing} failed: ${why}`);
}

export function failed({ name }: McpHttpServer, what: string): McpError {
  return new McpError('mcp_login_failed', `the MCP server ${name}: ${what}`, { server: name });
}

/** The code of the answer that refused something; undefined for anything else. */
export function refusalCode(error: unknown): string | undefined {
  return error instanceof OAuthError ? codeText(error.code) : undefined;
}

function reasonOf(error: unknown): string | undefined {
  if (isOdekError(error)) return error.message;
  if (error instanceof OAuthError) return `the authorization server answered ${codeText(error.code)}`;
  if (error instanceof RegistrationRejectedError) return `the authorization server refused to register odek (HTTP status ${error.status})`;
  if (error instanceof IssuerMismatchError) return 'the issuer is not the one that was asked (iss)';
  if (error instanceof AuthorizationServerMismatchError) return 'the authorization server has changed meanwhile';
  if (error instanceof InsecureTokenEndpointError) return 'the token endpoint is not https';
  if (!(error instanceof Error)) return undefined;
  // Of the protocol's code; it says what the metadata lack, never what a token endpoint answered.
  const said = /^(Incompatible auth server: [\w ]{1,120}|HTTP \d{3} trying to load [\w ]{1,60})/.exec(error.message)?.[0];
  if (said !== undefined) return said;
  return /^Protected resource .* does not match expected/.test(error.message) ? 'its metadata are about another resource' : undefined;
}

function codeText(code: string): string {
  return /^[\w.-]{1,64}$/.test(code) ? code : 'an error without a usable code';
}
