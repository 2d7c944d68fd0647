import { describe, expect, it } from 'vitest';
import { cardKeyboard, cardText } from '../../../hosts/telegram/cards.ts';
import { isMediaOf, mediaName } from '../../../hosts/telegram/media-in.ts';
import { mediaLines } from '../../../hosts/telegram/media-out.ts';
import { slugOf } from '../../../hosts/telegram/plans.ts';
import { firstSentence } from '../../../hosts/telegram/progress.ts';
import type { ApprovalRequest } from '../../../ports/approval.ts';

const request = (resource: string, more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  id: '0123456789abcdef',
  sessionId: 'tg-1',
  class: 'code_execution',
  items: [{ callId: 'c', tool: 'shell', class: 'code_execution', resource, reason: 'it can run any code' }],
  allowTrust: true,
  friction: false,
  timeoutMs: 120_000,
  ...more,
});

describe('a card', () => {
  it('shows risk, reason and the whole command, and cuts only what no message holds', () => {
    const { text, entities } = cardText(request('npm test\n*_`x`_*'));
    expect(text).toContain('Risk: code_execution\nWhy: it can run any code\nnpm test\n*_`x`_*');
    const code = entities.find(({ type }) => type === 'pre');
    expect(text.slice(code?.offset, (code?.offset ?? 0) + (code?.length ?? 0))).toBe('npm test\n*_`x`_*');
    const fits = 'x'.repeat(3_800);
    expect(cardText(request(fits)).text).toContain(fits);
    for (const long of ['y'.repeat(9_000), '😀'.repeat(5_000)]) {
      const cut = cardText(request(long), '❌ Denied').text;
      expect(cut.length).toBeLessThanOrEqual(4_096);
      expect([cut.isWellFormed(), cut.includes('… [truncated]'), cut.endsWith('❌ Denied')]).toEqual([true, true, true]);
    }
  });

  it('of many calls lists all of them in one message', () => {
    const [item] = request('z'.repeat(1_000)).items;
    const many = cardText(request('', { class: 'tool_batch', items: [item, ...Array.from({ length: 19 }, () => item)] }));
    expect(many.text.length).toBeLessThanOrEqual(4_096);
    expect(many.text).toContain('20 tool actions require approval');
    expect(many.text).toContain('20. shell');
  });

  it('offers trust only where it counts', () => {
    const datas = (of: ApprovalRequest) =>
      cardKeyboard(of)
        .flat()
        .map((button) => ('data' in button ? button.data : ''));
    expect(datas(request('x'))).toEqual(['apr:0123456789abcdef', 'den:0123456789abcdef', 'trs:0123456789abcdef']);
    expect(datas(request('x', { friction: true }))).toHaveLength(2);
    expect(datas(request('x', { allowTrust: false }))).toHaveLength(2);
  });
});

describe('texts of files', () => {
  it('name files to send at the beginning of an answer, and nowhere else', () => {
    expect(mediaLines('MEDIA:photo:/a/b c.jpg\nMEDIA:zip:/x\n\nHere.\nMEDIA:photo:/no')).toEqual({
      files: [
        { kind: 'photo', path: '/a/b c.jpg' },
        { kind: 'document', path: '/x' },
      ],
      text: 'Here.\nMEDIA:photo:/no',
    });
    for (const text of ['Here: MEDIA:photo:/a', 'MEDIA:photo:relative', 'MEDIA:photo', ''])
      expect(mediaLines(text)).toEqual({ files: [], text });
  });

  it.each([
    ['report.pdf', 'doc_chat-5_report.pdf'],
    ['../../etc/passwd', 'doc_chat-5_etc_passwd'],
    ['.bashrc', 'doc_chat-5_bashrc'],
    ['a b\u202egpj.exe', 'doc_chat-5_a_b_gpj.exe'],
    ['…', 'doc_chat-5_file'],
  ])('get a name of their own: %j', (name, expected) => {
    expect(mediaName(-5, { kind: 'document', fileId: 'f', uniqueId: 'u', name })).toBe(expected);
  });

  it('are told apart by the whole id, and bounded in length', () => {
    const names = ['x1', 'x2'].map((fileId) => mediaName(7, { kind: 'voice', fileId, uniqueId: 'u' }));
    expect(new Set(names).size).toBe(2);
    expect(names[0]).toMatch(/^voice_chat7_[0-9a-f]{16}\.ogg$/);
    expect(mediaName(7, { kind: 'document', fileId: 'f', uniqueId: 'u', name: `${'ä'.repeat(500)}.txt` })?.length).toBeLessThanOrEqual(200);
    expect(mediaName(7, { kind: 'sticker', fileId: 'f', uniqueId: 'u' })).toBeUndefined();
  });
});

describe('a file of a chat', () => {
  it('is known by the beginning of its name, whatever a person called it', () => {
    const name = mediaName(5, { kind: 'document', fileId: 'f', uniqueId: 'u', name: 'x_chat6_y.pdf' }) ?? '';
    expect([isMediaOf(name, 5), isMediaOf(name, 6), isMediaOf('doc_chat55_a.pdf', 5), isMediaOf('voice_chat-5_0.ogg', -5)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
});

describe('words of a run', () => {
  it('begin with the first short sentence of what the model thinks', () => {
    expect(firstSentence('**Look** at the `file`. Then more. ')).toBe('Look at the file.');
    expect(firstSentence('no end yet')).toBeUndefined();
    expect(firstSentence(`${'word '.repeat(25)}end. `)).toBeUndefined();
  });

  it.each([
    ['Move house!', 'move-house'],
    ['Ünïcode & more', 'unicode-more'],
    ['…', 'plan'],
    ['x'.repeat(100), 'x'.repeat(60)],
  ])('make the name of a plan: %j', (text, expected) => {
    expect(slugOf(text)).toBe(expected);
  });
});
