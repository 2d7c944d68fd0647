import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { selectProvider } from '../../../hosts/config/select.ts';
import type { LoadOptions, ProviderSelection } from '../../../hosts/config/types.ts';
import { type Home, makeHome } from './home.ts';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

type Given = Partial<Pick<LoadOptions, 'env' | 'flags'>>;

async function select(given: Given = {}): Promise<ProviderSelection> {
  return selectProvider((await home.load(given)).config);
}

describe('selectProvider', () => {
  it('has no silent default: without anything it names the ways to go on', async () => {
    const error: Error = await select().catch((caught) => caught);
    expect(error).toMatchObject({ name: 'ConfigError', code: 'no_provider' });
    for (const way of ['DEEPSEEK_API_KEY', 'secrets.env', '--base-url', 'npm start', '--replay']) expect(error.message).toContain(way);
  });

  it.each([
    ['DEEPSEEK_API_KEY', 'deepseek', 'https://api.deepseek.com', 'deepseek-v4-flash', 'openai'],
    ['OPENAI_API_KEY', 'openai', 'https://api.openai.com/v1', 'm', 'openai'],
    ['ANTHROPIC_API_KEY', 'anthropic', 'https://api.anthropic.com', 'm', 'anthropic'],
    ['GEMINI_API_KEY', 'gemini', 'https://generativelanguage.googleapis.com', 'm', 'gemini'],
    ['GOOGLE_API_KEY', 'gemini', 'https://generativelanguage.googleapis.com', 'm', 'gemini'],
    ['ZAI_API_KEY', 'zai', 'https://api.z.ai/api/paas/v4', 'm', 'openai'],
    ['KIMI_API_KEY', 'kimi', 'https://api.moonshot.ai/v1', 'm', 'openai'],
    ['MOONSHOT_API_KEY', 'kimi', 'https://api.moonshot.ai/v1', 'm', 'openai'],
    ['OPENROUTER_API_KEY', 'openrouter', 'https://openrouter.ai/api/v1', 'm', 'openai'],
  ])('infers from %s that the provider is %s', async (variable, id, base_url, model, format) => {
    const flags: Given['flags'] = id === 'deepseek' ? {} : { model: 'm' };
    expect(await select({ env: { [variable]: 'k' }, flags })).toEqual({
      id,
      format,
      base_url,
      api_key: 'k',
      include_reasoning: true,
      model,
    });
  });

  it('infers the first of several key variables, in a fixed order', async () => {
    expect((await select({ env: { OPENAI_API_KEY: 'o', DEEPSEEK_API_KEY: 'd' } })).id).toBe('deepseek');
  });

  it('finds a key variable in secrets.env and tells where it was', async () => {
    await home.secrets('DEEPSEEK_API_KEY=d\n');
    expect((await select()).api_key).toBe('d');
    expect((await home.load()).sources).toMatchObject({ provider: 'secrets.env', api_key: 'secrets.env', model: 'default' });
  });

  it('needs neither key nor format for a server on the own machine that it knows by name or address', async () => {
    const want = { id: 'ollama', format: 'openai', base_url: 'http://127.0.0.1:11434/v1', include_reasoning: true, model: 'm' };
    expect(await select({ flags: { provider: 'ollama', model: 'm' } })).toEqual(want);
    expect(await select({ flags: { 'base-url': 'http://127.0.0.1:11434/v1', model: 'm' } })).toEqual(want);
  });

  it('takes a model file by its path, and says what is missing without one', async () => {
    await expect(select({ flags: { provider: 'local' } })).rejects.toMatchObject({
      code: 'incomplete_provider',
      message: expect.stringContaining('providers.local.options.model_path'),
    });
    await home.global({ provider: 'local', providers: { local: { options: { model_path: '/models/small.gguf' } } } });
    expect(await select()).toEqual({ id: 'local', format: 'local', include_reasoning: true, model: 'small.gguf' });
  });

  it('takes an endpoint that the operator calls local as the endpoint it is', async () => {
    await home.global({ provider: 'local', model: 'm', providers: { local: { format: 'openai', base_url: 'http://127.0.0.1:9/v1' } } });
    expect(await select()).toMatchObject({ id: 'local', format: 'openai', base_url: 'http://127.0.0.1:9/v1' });
  });

  it('lets an endpoint of the own be called local', async () => {
    await home.global({ provider: 'local', model: 'm', providers: { local: { format: 'openai', base_url: 'http://127.0.0.1:1/v1' } } });
    expect(await select()).toMatchObject({ id: 'local', format: 'openai', base_url: 'http://127.0.0.1:1/v1' });
  });

  it('asks for no model where the question concerns none', async () => {
    const { config } = await home.load({ env: { OPENAI_API_KEY: 'o' } });
    expect(selectProvider(config, { needsModel: false })).toMatchObject({ id: 'openai', model: '' });
  });

  it('names the provider after a known host of an address', async () => {
    expect((await select({ env: { OPENAI_API_KEY: 'k' }, flags: { 'base-url': 'https://api.openai.com/v1/', model: 'm' } })).id).toBe(
      'openai',
    );
  });

  it('speaks to an unknown host in the OpenAI format, needs no key for it, and says so once', async () => {
    const given = { flags: { 'base-url': 'http://127.0.0.1:8080/v1/', model: 'm' } };
    expect(await select(given)).toEqual({
      id: 'legacy',
      format: 'openai',
      base_url: 'http://127.0.0.1:8080/v1',
      include_reasoning: true,
      model: 'm',
    });
    expect((await home.load(given)).warnings).toEqual([expect.stringContaining('127.0.0.1:8080')]);
  });

  it('gives the unknown host the deepseek key, then the openai one', async () => {
    const flags = { 'base-url': 'http://127.0.0.1:8080/v1', model: 'm' };
    expect((await select({ flags, env: { OPENAI_API_KEY: 'o' } })).api_key).toBe('o');
    expect((await select({ flags, env: { OPENAI_API_KEY: 'o', DEEPSEEK_API_KEY: 'd' } })).api_key).toBe('d');
  });

  it('takes keys in the documented order', async () => {
    const env = (): Record<string, string> => ({ ODEK_API_KEY: 'general', DEEPSEEK_API_KEY: 'own', OPENAI_API_KEY: 'borrowed' });
    const keys: (string | undefined)[] = [];
    const look = async (variables: Record<string, string>): Promise<void> => {
      keys.push((await select({ env: variables, flags: { provider: 'deepseek' } })).api_key);
    };
    await look({ OPENAI_API_KEY: 'borrowed' });
    await look({ OPENAI_API_KEY: 'borrowed', DEEPSEEK_API_KEY: 'own' });
    await look(env());
    await home.global({ api_key: 'configured' });
    await look(env());
    await home.global({ api_key: 'configured', providers: { deepseek: { api_key: 'of-deepseek' } } });
    await look(env());
    expect(keys).toEqual(['borrowed', 'own', 'general', 'configured', 'of-deepseek']);
  });

  it('lends the openai key to deepseek alone', async () => {
    await expect(select({ env: { OPENAI_API_KEY: 'o' }, flags: { provider: 'kimi', model: 'm' } })).rejects.toMatchObject({
      code: 'no_api_key',
      message: expect.stringContaining('KIMI_API_KEY'),
    });
  });

  it('takes the first configured provider when none is named', async () => {
    await home.global({
      providers: {
        mine: { format: 'openai', base_url: 'http://127.0.0.1:1/v1', include_reasoning: false },
        other: { format: 'openai', base_url: 'http://127.0.0.1:2/v1' },
      },
      model: 'm',
    });
    expect(await select({ env: { OPENAI_API_KEY: 'not-for-mine' } })).toEqual({
      id: 'mine',
      format: 'openai',
      base_url: 'http://127.0.0.1:1/v1',
      include_reasoning: false,
      model: 'm',
    });
  });

  it('prefers the address of a flag, then the one of the provider, then the general one', async () => {
    await home.global({
      provider: 'openai',
      base_url: 'http://general:1',
      providers: { openai: { base_url: 'http://own:1' } },
      api_key: 'k',
    });
    expect((await select({ flags: { model: 'm' } })).base_url).toBe('http://own:1');
    expect((await select({ flags: { model: 'm', 'base-url': 'http://flag:1' } })).base_url).toBe('http://flag:1');
    await home.global({ provider: 'openai', base_url: 'http://general:1', api_key: 'k' });
    expect((await select({ flags: { model: 'm' } })).base_url).toBe('http://general:1');
  });

  it("does not send one provider's key to another provider's address", async () => {
    await home.global({ base_url: 'https://api.deepseek.com' });
    const given = { env: { OPENAI_API_KEY: 'o' }, flags: { provider: 'openai', model: 'm' } };
    expect((await select(given)).base_url).toBe('https://api.openai.com/v1');
    expect((await home.load(given)).warnings).toEqual([expect.stringContaining('base_url is not used')]);
  });

  it('says what a provider of the own misses, and names the nearest of an unknown one', async () => {
    await home.global({ providers: { mine: { base_url: 'http://127.0.0.1:1' } } });
    await expect(select()).rejects.toThrow('needs providers.mine.format');
    await expect(select({ flags: { provider: 'opneai' } })).rejects.toMatchObject({
      code: 'unknown_provider',
      message: expect.stringContaining('did you mean openai?'),
    });
  });

  it('leaves a name that only an adapter can carry to the adapter', async () => {
    await home.global({ adapters: ['./mine.mjs'], provider: 'mine', providers: { mine: { options: { depth: 3 } } } });
    expect(await select()).toEqual({ id: 'mine', include_reasoning: true, model: 'mine' });
    expect((await home.load()).config.providers).toEqual({ mine: { options: { depth: 3 } } });
  });

  it('asks for a model where the provider has no default one', async () => {
    await expect(select({ env: { OPENAI_API_KEY: 'o' } })).rejects.toMatchObject({
      code: 'no_model',
      message: expect.stringContaining('--model'),
    });
  });
});
