/** The modules of Node that a plugin can import, and how far. What is not here is refused by its name. */
import assert from 'node:assert';
import assertStrict from 'node:assert/strict';
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import buffer from 'node:buffer';
import crypto from 'node:crypto';
import events from 'node:events';
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import querystring from 'node:querystring';
import stream from 'node:stream';
import streamPromises from 'node:stream/promises';
import stringDecoder from 'node:string_decoder';
import timersPromises from 'node:timers/promises';
import url from 'node:url';
import util from 'node:util';
import zlib from 'node:zlib';

type Members = Readonly<Record<string, unknown>>;

/** Loads native code, or changes the whole process. */
const NOT_OF_CRYPTO = ['setEngine', 'setFips', 'fips'];

function without(members: object, names: readonly string[]): Members {
  return Object.fromEntries(
    Object.entries(Object.getOwnPropertyDescriptors(members)).flatMap(([name, own]) =>
      'value' in own && !names.includes(name) ? [[name, own.value]] : [],
    ),
  );
}

/**
 * Descriptors below `first` are the host's own: its channel is among them. A function of files that is
 * given one of their numbers refuses.
 */
function guardedFiles(first: number): Members {
  const check = (args: readonly unknown[]): void => {
    for (const each of args) {
      const descriptor = typeof each === 'object' && each !== null && 'fd' in each ? each.fd : undefined;
      for (const number of [descriptor, each === args[0] ? each : undefined]) {
        if (typeof number === 'number' && number < first) throw new Error(`descriptor ${number} is not yours`);
      }
    }
  };
  const guard = (value: unknown): unknown =>
    typeof value !== 'function'
      ? value
      : new Proxy(value, {
          apply(target, self, args) {
            check(args);
            return Reflect.apply(target, self, args);
          },
          construct(target, args, newTarget) {
            check(args);
            return Reflect.construct(target, args, newTarget);
          },
        });
  const members = Object.fromEntries(Object.entries(without(fs, ['promises'])).map(([name, value]) => [name, guard(value)]));
  return { ...members, promises: fsPromises };
}

/** By name without `node:`. `timers` are those that a plugin's disposal ends. */
export function allowedBuiltins(timers: Members): ReadonlyMap<string, Members> {
  const probe = fs.openSync(String(process.argv[1]), 'r');
  fs.closeSync(probe);
  const allowed: Readonly<Record<string, Members>> = {
    assert: { ...without(assert, []), default: assert },
    'assert/strict': { ...without(assertStrict, []), default: assertStrict },
    async_hooks: { AsyncLocalStorage, AsyncResource },
    buffer: without(buffer, []),
    crypto: without(crypto, NOT_OF_CRYPTO),
    events: { ...without(events, []), default: events },
    fs: guardedFiles(probe),
    'fs/promises': without(fsPromises, []),
    path: without(path, []),
    perf_hooks: { performance },
    querystring: without(querystring, []),
    stream: { ...without(stream, []), default: stream },
    'stream/promises': without(streamPromises, []),
    string_decoder: without(stringDecoder, []),
    timers,
    'timers/promises': without(timersPromises, []),
    url: without(url, []),
    util: without(util, []),
    zlib: without(zlib, []),
  };
  return new Map(
    Object.entries(allowed).map(([name, members]) => [
      name,
      Object.freeze({ ...members, default: members.default ?? Object.freeze({ ...members }) }),
    ]),
  );
}
