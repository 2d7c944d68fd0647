import anthropic from '../../../adapters/llm/anthropic.ts';
import { testFixtures } from './fixtures.ts';
import { providerOver } from './wire.ts';

testFixtures('recorded replies in the anthropic format', {
  folder: 'anthropic',
  atLeast: 30,
  make: (http, base_url) => providerOver(anthropic, http, base_url === undefined ? {} : { base_url }),
});
