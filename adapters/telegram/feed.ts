import type { ChatFeed } from '../../ports/chat.ts';
import type { Caller } from './call.ts';
import { toUpdate, toUser } from './updates.ts';

const BATCH = 100;
const MAX_POLL_SECONDS = 60;
/** Beyond the poll's own time. */
const POLL_GRACE_MS = 60_000;
const ALLOWED = ['message', 'edited_message', 'callback_query'] as const;
const MAX_COMMANDS = 100;
const MAX_DESCRIPTION = 256;

export function createFeed(call: Caller): ChatFeed {
  return {
    async me(signal) {
      const { value } = await call('getMe', (raw, aborted) => raw.getMe(aborted), { signal });
      return toUser(value);
    },
    async poll({ offset, timeoutSeconds }, signal) {
      const timeout = Math.min(Math.max(0, Math.trunc(timeoutSeconds)), MAX_POLL_SECONDS);
      const args = { offset, timeout, limit: BATCH, allowed_updates: [...ALLOWED] };
      const { value } = await call('getUpdates', (raw, aborted) => raw.getUpdates(args, aborted), {
        signal,
        once: true,
        limitMs: timeout * 1000 + POLL_GRACE_MS,
      });
      return value.map(toUpdate).sort((one, other) => one.id - other.id);
    },
    async setCommands(commands, signal) {
      const list = commands
        .slice(0, MAX_COMMANDS)
        .map(({ name, description }) => ({ command: name, description: description.slice(0, MAX_DESCRIPTION) }));
      await call('setMyCommands', (raw, aborted) => raw.setMyCommands({ commands: list }, aborted), { signal });
    },
  };
}
