import responses from '../../../adapters/llm/openai-responses.ts';
import { testFixtures } from './fixtures.ts';
import { providerOver } from './wire.ts';

testFixtures('recorded replies of the Responses API', {
  folder: 'responses',
  atLeast: 30,
  make: (http, base_url) => providerOver(responses, http, base_url === undefined ? {} : { base_url }),
});
