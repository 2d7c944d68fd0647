/** The protected system message: header outside, everything under it inside the untrusted boundary. */

/** Puts `body` inside the nonce'd untrusted wrapper under a source label. */
export type UntrustedWrap = (source: string, body: string) => string;

export function planMessageContent(render: string, wrap: UntrustedWrap): string {
  const end = render.indexOf('\n');
  if (end === -1) return render;
  return `${render.slice(0, end)}\n${wrap('plan', render.slice(end + 1))}`;
}
