import { testFixtures } from './fixtures.ts';
import { openaiOver } from './wire.ts';

testFixtures('recorded replies of OpenAI-compatible services', {
  folder: 'openai',
  atLeast: 51,
  make: (http, base_url) => openaiOver(http, base_url === undefined ? {} : { base_url }),
});
