/** Bounds of a bundle. Bytes are of UTF-8. */
export const BUNDLE_LIMITS = {
  manifestBytes: 1024 * 1024,
  files: 4096,
  hashedBytes: 64 * 1024 * 1024,
  /** Paths that one component of the manifest may name. */
  componentPaths: 64,
  pathBytes: 512,
  /** Arguments, variables and headers of one MCP server. */
  mcpFields: 64,
  mcpServers: 64,
  /** Entries of one list of capabilities. */
  capabilityEntries: 64,
  skillBytes: 256 * 1024,
  skills: 128,
  configBytes: 16 * 1024,
  configDepth: 16,
} as const;
