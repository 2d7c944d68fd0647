import type { McpServer } from '../../ports/mcp.ts';
import { McpError } from '../../ports/mcp.ts';
import type { McpConnectorHarness, McpListing, McpSeat } from '../contracts/mcp-connector.suite.ts';
import { createFakeMcp, type FakeMcp, FakeMcpExit, type FakeMcpServer, type FakeMcpTool, fakeMcpServer } from './mcp.ts';

const numbered = (from: number, to: number): FakeMcpTool[] =>
  Array.from({ length: to - from }, (_, index) => ({ name: `t${from + index}` }));

function pageOf(listing: McpListing, cursor: string | undefined): { tools: FakeMcpTool[]; nextCursor?: string } {
  const at = Number(cursor ?? 0);
  switch (listing) {
    case 'many':
      return { tools: numbered(at, Math.min(at + 50, 101)), ...(at + 50 < 101 ? { nextCursor: String(at + 50) } : {}) };
    case 'duplicates':
      return at === 0 ? { tools: [{ name: 'echo' }, { name: 'echo' }], nextCursor: '1' } : { tools: [{ name: 'echo' }, { name: 'fails' }] };
    case 'loop':
      return { tools: numbered(0, 8), nextCursor: 'again' };
    case 'wide':
      return { tools: numbered(at, at + 3000), nextCursor: String(at + 3000) };
    default:
      return { tools: numbered(at, at + 1), nextCursor: String(at + 1) };
  }
}

const never = () => new Promise<never>(() => {});

function toolsOf(mcp: () => FakeMcp): readonly FakeMcpTool[] {
  return [
    { name: 'echo', run: ({ text }) => String(text) },
    { name: 'fails', run: () => ({ content: [{ type: 'text', text: 'it went wrong' }], isError: true, bytes: 40 }) },
    {
      name: 'refused',
      run() {
        throw new McpError('mcp_request_refused', 'these arguments will not do', { server: 'scripted', tool: 'refused' });
      },
    },
    { name: 'slow', run: never },
    { name: 'late', run: never },
    { name: 'huge', run: ({ bytes }) => 'x'.repeat(Number(bytes)) },
    {
      name: 'die',
      run() {
        throw new FakeMcpExit(3, 'the disk is full');
      },
    },
    {
      name: 'burst',
      run() {
        mcp().announce('scripted', 5);
        return 'said';
      },
    },
  ];
}

/** The harness of the scripted connector, for the suite of connectors. */
export function createFakeMcpSeats(): McpConnectorHarness {
  const seatOf = (scripts: Readonly<Record<string, FakeMcpServer>>, server: McpServer): McpSeat => {
    const mcp: FakeMcp = createFakeMcp(scripts);
    current = mcp;
    return {
      connector: mcp,
      server,
      seen: async () => [
        ...mcp.calls.map(({ tool }) => ({ method: 'tools/call', params: { name: tool } })),
        ...mcp.cancelled.map(() => ({ method: 'notifications/cancelled' })),
      ],
      left: async () => mcp.opened() - mcp.closed.length,
      close: async () => {},
    };
  };
  let current: FakeMcp | undefined;
  const mcp = (): FakeMcp => current as FakeMcp;
  return {
    exits: true,
    async seat({ listing = 'plain', ...limits } = {}) {
      const page = listing === 'plain' ? {} : { page: (cursor: string | undefined) => pageOf(listing, cursor) };
      const script = { tools: toolsOf(mcp), serverName: 'scripted', serverVersion: '1.2.3', ...page };
      return seatOf({ scripted: script }, fakeMcpServer({ name: 'scripted', ...limits }));
    },
    absent: async () => seatOf({}, fakeMcpServer({ name: 'scripted' })),
    silent: async (limits = {}) => seatOf({ scripted: { tools: [], silent: true } }, fakeMcpServer({ name: 'scripted', ...limits })),
  };
}
