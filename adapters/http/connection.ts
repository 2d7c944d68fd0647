import type { ClientRequest, RequestOptions } from 'node:http';
import type { Duplex } from 'node:stream';

/** Opens a connection to an address that was checked. */
export type Connect = (target: { readonly address: string; readonly port: number }) => Duplex | Promise<Duplex>;

/** Starts a request on the right agent. */
export type Open = (options: RequestOptions) => ClientRequest;
