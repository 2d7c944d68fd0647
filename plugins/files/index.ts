import { definePlugin } from '../../ports/plugin.ts';
import { fileInfoTool } from './file-info.ts';
import { globTool } from './glob.ts';
import { patchTool } from './patch.ts';
import { readFileTool } from './read-file.ts';
import { searchFilesTool } from './search-files.ts';
import { writeFileTool } from './write-file.ts';

/** Reading, finding and changing files in the working directory. */
export default definePlugin({
  name: 'files',
  inject: ['tools', 'fs'],
  apply({ tools, fs }) {
    for (const tool of [readFileTool, writeFileTool, patchTool, searchFilesTool, globTool, fileInfoTool]) tools.register(tool(fs));
  },
});
