import { type HttpClient, HttpError, type HttpResponse } from '../../ports/http.ts';
import { defineTool, type ToolExecution, type ToolResult, type ToolSpec } from '../../ports/plugin.ts';
import { fetchPage, readBody, TIMEOUT_MS } from './fetch.ts';
import { type PageContent, readHtml } from './html.ts';
import { failure, success } from './result.ts';
import { hostsOf, isSameHost, targetOf } from './target.ts';

interface BrowserInput {
  readonly action: 'navigate' | 'snapshot' | 'click' | 'back';
  readonly url?: string;
  readonly ref?: string;
}

interface Page extends PageContent {
  readonly url: URL;
  readonly status: number;
}

/** What one run has open, the newest page last, and the end of its last call. */
interface Tab {
  readonly pages: Page[];
  last: Promise<unknown>;
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Characters of a snapshot's JSON. */
const MAX_SNAPSHOT_CHARS = 1024 * 1024;
const MAX_RESULT_CHARS = 1_200_000;
const MAX_HISTORY = 50;
/** Characters of text that a run's history keeps, beside the page that is open. */
const MAX_HISTORY_CHARS = 8 * 1024 * 1024;
/** Runs whose pages are kept. */
const MAX_TABS = 4;
const HEADERS = { 'user-agent': 'odek-browser/0.1', accept: 'text/html, text/*;q=0.9, */*;q=0.5' };
/** A click says only a reference; that it stays with the host that is open is seen to when it runs. */
const OPEN_HOST = 'the host of the page that is open';

/** `browser`: pages as text, with links to follow. Scripts are not run. */
export function browserTool(http: HttpClient): ToolSpec {
  const tabs = new Map<string, Tab>();
  return defineTool<BrowserInput>({
    name: 'browser',
    description:
      'Read public web pages as text, without scripts: {title,url,content,status,elements:[{ref,type,text,url}]}. navigate (url), snapshot, click (ref of a link within the host), back.',
    parameters: {
      type: 'object',
      properties: {
        action: { enum: ['navigate', 'snapshot', 'click', 'back'] },
        url: { type: 'string' },
        ref: { type: 'string', maxLength: 16, description: 'For example e1' },
      },
      required: ['action'],
      additionalProperties: false,
    },
    maxResultChars: MAX_RESULT_CHARS,
    timeoutMs: TIMEOUT_MS,
    ordered: true,
    effects: ({ action, url = '' }) => ({ hosts: action === 'navigate' ? hostsOf(url) : action === 'click' ? [OPEN_HOST] : [] }),
    execute: (input, exec) => {
      const tab = tabOf(tabs, exec);
      return inOrder(tab, () => acted(http, tab, input, exec.signal));
    },
  });
}

function tabOf(tabs: Map<string, Tab>, { runId = '' }: ToolExecution): Tab {
  const tab = tabs.get(runId) ?? { pages: [], last: Promise.resolve() };
  tabs.delete(runId);
  tabs.set(runId, tab);
  for (const oldest of tabs.keys()) if (tabs.size > MAX_TABS) tabs.delete(oldest);
  return tab;
}

/** Each call works on what the one before it left open. */
function inOrder(tab: Tab, act: () => Promise<ToolResult>): Promise<ToolResult> {
  const turn = tab.last.then(act);
  tab.last = turn.catch(() => undefined);
  return turn;
}

async function acted(http: HttpClient, tab: Tab, { action, url, ref }: BrowserInput, signal: AbortSignal): Promise<ToolResult> {
  try {
    if (action === 'navigate') return url === undefined ? failed('navigate needs a url') : await opened(http, tab, targetOf(url), signal);
    const page = tab.pages.at(-1);
    if (page === undefined) return failed('no page is open: navigate first');
    if (action === 'snapshot') return snapshot(page);
    if (action === 'click') return await clicked(http, tab, page, ref, signal);
    const before = tab.pages.at(-2);
    if (before === undefined) return failed('there is no page before this one');
    tab.pages.pop();
    return snapshot(before);
  } catch (error) {
    if (error instanceof HttpError) return failed(error.message);
    throw error;
  }
}

async function clicked(http: HttpClient, tab: Tab, page: Page, ref: string | undefined, signal: AbortSignal): Promise<ToolResult> {
  const element = page.elements.find((each) => each.ref === ref);
  if (element === undefined) return failed(`no element ${JSON.stringify(ref ?? '')} here; there are ${page.elements.length}, from e1`);
  if (element.url === undefined) return failed(`${element.ref} is no link (${element.type}); only links can be followed`);
  const target = targetOf(element.url);
  if (!isSameHost(page.url, target)) return failed(`${element.ref} leads to another host: navigate to ${target.href}`, page.url.href);
  return opened(http, tab, target, signal);
}

async function opened(http: HttpClient, tab: Tab, target: URL, signal: AbortSignal): Promise<ToolResult> {
  const { url, response, fault } = await fetchPage(http, { method: 'GET', url: target, headers: HEADERS }, signal);
  const content = fault ?? (await contentOf(response, url));
  if (typeof content === 'string') {
    response.cancel();
    return failure({ url: url.href, status: response.status, error: content }, url.href);
  }
  const page = { ...content, url, status: response.status };
  tab.pages.push(page);
  while (tab.pages.length > MAX_HISTORY || (tab.pages.length > 1 && charsOf(tab.pages) > MAX_HISTORY_CHARS)) tab.pages.shift();
  return snapshot(page);
}

const charsOf = (pages: readonly Page[]): number => pages.reduce((sum, { content }) => sum + content.length, 0);

/** The page in a reply, or why it cannot be read. */
async function contentOf(response: HttpResponse, url: URL): Promise<PageContent | string> {
  const type = (response.headers['content-type'] ?? 'text/html').toLowerCase();
  const coding = response.headers['content-encoding'] ?? 'identity';
  if (coding !== 'identity') return `the body is encoded as ${coding.slice(0, 40)}, which was not asked for`;
  if (!/^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml))/.test(type)) return `a page or text is expected, not ${type.slice(0, 100)}`;
  const body = await readBody(response, MAX_BODY_BYTES);
  if (body === undefined) return `the body is longer than ${MAX_BODY_BYTES} bytes (10 MiB)`;
  const text = decoded(body, /charset="?([\w:.-]{1,40})/.exec(type)?.[1] ?? 'utf-8');
  const page = /html/.test(type) ? readHtml(text, url) : { title: '', content: text, elements: [] };
  return { ...page, content: page.content.slice(0, MAX_SNAPSHOT_CHARS) };
}

function decoded(body: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

function snapshot({ title, url, content, status, elements }: Page): ToolResult {
  const source = url.href;
  const room = MAX_SNAPSHOT_CHARS - JSON.stringify(elements).length;
  // The worst that a character takes in JSON is six.
  const shown = JSON.stringify(content).length <= room ? content : content.slice(0, Math.floor(room / 6));
  return success({ title, url: source, content: shown, status, elements }, source);
}

function failed(error: string, source = 'browser'): ToolResult {
  return failure({ error }, source);
}
