import gemini from '../../../adapters/llm/gemini.ts';
import { testFixtures } from './fixtures.ts';
import { providerOver } from './wire.ts';

testFixtures('recorded replies in the gemini format', {
  folder: 'gemini',
  atLeast: 30,
  make: (http, base_url) => providerOver(gemini, http, base_url === undefined ? {} : { base_url }),
});
