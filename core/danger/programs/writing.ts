import { each, type ProgramTable } from '../rules.ts';

/** Programs that change files and folders. */
export const WRITING: ProgramTable = {
  touch: { operands: 'write', options: { '-d -t --date --time': 'value', '-r --reference': 'list' } },
  ...each('mkdir mkfifo', { operands: 'write', options: { '-m --mode': 'value' } }),
  mknod: { operands: 'write', adds: ['system_write'], because: 'makes a device' },
  rmdir: { operands: 'delete' },
  ...each('rm unlink', { special: 'rm' }),
  trash: { operands: 'delete' },
  shred: {
    operands: 'delete',
    adds: ['destructive'],
    because: 'overwrites beyond recovery',
    options: { '-n -s --iterations --size': 'value', '--random-source': 'read' },
  },
  ...each('cp gcp', {
    special: 'copy',
    options: { '-t --target-directory': 'write', '-S --suffix': 'value', '-r -R -a --recursive --archive': 'flag' },
  }),
  ...each('mv gmv rename', { special: 'copy', options: { '-t --target-directory': 'write', '-S --suffix': 'value' } }),
  ln: { special: 'copy', options: { '-t --target-directory': 'write', '-S --suffix': 'value' } },
  install: {
    special: 'copy',
    options: { '-t --target-directory': 'write', '-m -o -g --mode --owner --group --suffix': 'value', '--strip-program': 'line' },
  },
  ...each('chmod', { special: 'chmod', options: { '--reference': 'list' } }),
  ...each('chown chgrp', { operands: 'write', first: 'value', adds: ['system_write'], because: 'changes who owns files' }),
  ...each('chattr setfacl setfattr xattr', { operands: 'write', adds: ['system_write'], because: 'changes attributes of files' }),
  setcap: { operands: 'write', adds: ['system_write'], because: 'gives a program rights' },
  truncate: { operands: 'write', options: { '-s --size': 'value', '-r --reference': 'list' } },
  tee: { operands: 'write', special: 'tee' },
  split: {
    operands: 'read',
    last: 'write',
    options: { '-l -b -n -a -C --lines --bytes --number --suffix-length --additional-suffix -t': 'value', '--filter': 'line' },
  },
  csplit: {
    operands: 'value',
    first: 'read',
    adds: ['local_write'],
    because: 'writes files',
    options: { '-f -b -n --prefix --suffix-format': 'write' },
  },
  dd: { special: 'dd' },
  patch: {
    operands: 'write',
    adds: ['local_write'],
    because: 'writes the files that the patch names',
    options: {
      '-i --input': 'read',
      '-o --output -r --reject-file -B': 'write',
      '-p -F --strip --fuzz -D -z': 'value',
      '-d --directory': 'folder',
    },
  },
  ...each('tar gtar bsdtar', { special: 'tar' }),
  ...each('gzip gunzip bzip2 bunzip2 xz unxz lzma zstd unzstd lz4 pigz compress uncompress brotli', {
    operands: 'write',
    options: { '-S --suffix -T -o --output': 'write', '-c --stdout --to-stdout -k -t -l': 'flag' },
  }),
  zip: {
    operands: 'read',
    first: 'write',
    options: {
      '-T --test': 'flag',
      '-TT --unzip-command': 'line',
      '-b -O --out': 'write',
      '-P': 'value',
      '-m --move': '+local_write',
    },
  },
  unzip: {
    operands: 'value',
    first: 'read',
    adds: ['local_write'],
    because: 'writes what the archive holds',
    options: { '-d': 'write', '-x -P': 'value' },
  },
  ...each('7z 7za 7zz rar unrar ar cpio', {
    operands: 'write',
    first: 'value',
    adds: ['local_write'],
    because: 'writes archives or what they hold',
  }),
  ...each('dos2unix unix2dos sponge ed ex', { operands: 'write' }),
  ...each('vi vim nvim emacs nano pico', {
    operands: 'write',
    adds: ['code_execution'],
    because: 'can run commands',
    options: { '-c --cmd -S -u --eval --load -s': 'code' },
  }),
  ...each('prettier', { operands: 'write', adds: ['code_execution'], because: 'loads configuration that is code' }),
  rsync: {
    special: 'remote-copy',
    options: {
      '-e --rsh --rsync-path': 'line',
      '--delete --del --delete-before --delete-during --delete-delay --delete-after --delete-excluded --remove-source-files':
        '+destructive',
      '--exclude --include --chmod --bwlimit --port -f --filter -M --remote-option': 'value',
      '--exclude-from --include-from --files-from --password-file': 'read',
      '--log-file --write-batch -T --temp-dir --backup-dir --partial-dir': 'write',
      '--read-batch': 'read',
      '--daemon': '+network_upload',
    },
  },
};
