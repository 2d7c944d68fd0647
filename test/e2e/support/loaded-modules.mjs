/** Preloaded into a process under test: appends the address of every module it loads to $LOADED_MODULES. */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.LOADED_MODULES, `${url}\n`);
    return next(url, context);
  },
});
