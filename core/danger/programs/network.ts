import { each, type ProgramTable } from '../rules.ts';

const REACHES = ['network_egress'] as const;
const SENDS = ['network_egress', 'network_upload'] as const;

/** Programs that reach other machines. */
export const NETWORK: ProgramTable = {
  curl: {
    special: 'curl',
    options: {
      '-d --data --data-ascii --data-binary --json -F --form': 'sends',
      '--data-urlencode --url-query': 'sends',
      '--variable': 'value+network_upload',
      '--proto-default': 'value+unknown',
      '--data-raw --form-string': 'sends',
      '-T --upload-file': 'value+network_upload',
      '-X --request': 'value',
      '-o --output': 'write',
      '-O --remote-name --remote-name-all': '+local_write',
      '-J --remote-header-name': '+persistence',
      '-D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc --output-dir': 'write',
      '-H --header --proxy-header': 'value',
      '-u --user -U --proxy-user --oauth2-bearer --pass --aws-sigv4': 'value+network_upload',
      '-E --cert --key --proxy-cert --proxy-key -n --netrc --netrc-optional': '+network_upload',
      '--netrc-file': 'read+network_upload',
      '-b --cookie': 'value+network_upload',
      '-K --config': 'read+unknown',
      '--cacert --capath --crlfile --etag-compare': 'read',
      '-x --proxy --dns-servers --preproxy --socks5 --socks5-hostname --socks4 --doh-url --connect-to --resolve': 'value+network_upload',
      '--unix-socket --abstract-unix-socket': 'value+system_write',
      '-w --write-out': 'value',
      '-A -e -m -r -C -z -Y -y --user-agent --referer --max-time --connect-timeout --retry --retry-delay --retry-max-time --range --limit-rate --max-redirs --interface --ciphers --tls-max --parallel-max --continue-at --max-filesize --proto --proto-redir --create-file-mode --keepalive-time --speed-limit --speed-time --time-cond':
        'value',
      '--url': 'address',
      '-Q --quote': 'value+network_upload',
      '-t --telnet-option --mail-from --mail-rcpt': 'value+network_upload',
      '--engine': 'value+code_execution',
      '-L -s -S -f -i -I -k -v -g -G -N -4 -6 -0 -1 -2 -3 --location --silent --show-error --fail --include --head --insecure --verbose --globoff --get --compressed --http1.1 --http2 --no-progress-meter --fail-with-body':
        'flag',
    },
  },
  ...each('wget wget2', {
    special: 'curl',
    adds: ['local_write'],
    because: 'stores what it gets',
    options: {
      '-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies --warc-file': 'write',
      '--post-data --body-data': 'sends',
      '--post-file --body-file': 'read+network_upload',
      '--method': 'value',
      '--header': 'value',
      '--user --password --http-user --http-password --ftp-user --ftp-password --proxy-user --proxy-password --certificate --private-key --load-cookies':
        'value+network_upload',
      '--ask-password': 'flag',
      '--use-askpass': 'line',
      '-r --recursive -m --mirror -p --page-requisites -x --force-directories --content-disposition --trust-server-names': '+persistence',
      '-e --execute': 'value+unknown',
      '--config': 'read+unknown',
      '-i --input-file': 'read+network_upload',
      '--ca-certificate --ca-directory': 'read',
      '-t -T -w -Q -U -R -A -D -l -B --tries --timeout --wait --quota --user-agent --reject --accept --domains --level --base --limit-rate --max-redirect --referer --connect-timeout --read-timeout':
        'value',
    },
  }),
  ...each('http https xh xhs httpie', { adds: SENDS, because: 'sends what its arguments say', operands: 'address' }),
  ...each('dig drill kdig nslookup', {
    special: 'lookup',
    adds: REACHES,
    because: 'asks other machines',
    operands: 'address',
    options: { '-f': 'read', '-c -p -t -b -k -y -x -q': 'value' },
  }),
  ...each('ping ping6 traceroute tracepath mtr host whois', {
    adds: REACHES,
    because: 'asks other machines',
    operands: 'address',
    options: { '-c -i -W -w -s -t -p -f': 'value' },
  }),
  getent: { special: 'lookup' },
  ...each(
    'nc ncat netcat socat telnet ftp sftp tftp lftp cadaver rclone s3cmd gsutil croc magic-wormhole wormhole rcp mosh autossh sshfs',
    { adds: SENDS, because: 'sends data to other machines or listens for them', operands: 'address' },
  ),
  socat: { adds: [...SENDS, 'code_execution'], because: 'connects anything with anything', operands: 'address' },
  nc: {
    adds: SENDS,
    because: 'sends data to other machines or listens for them',
    operands: 'address',
    options: { '-e -c --exec --sh-exec': 'line', '-p -w -s -x -X -i -q': 'value' },
  },
  ncat: {
    adds: SENDS,
    because: 'sends data to other machines or listens for them',
    operands: 'address',
    options: { '-e -c --exec --sh-exec': 'line', '--lua-exec': 'script', '-p -w -s --proxy': 'value' },
  },
  ...each('ngrok cloudflared localtunnel lt frpc frps tailscale zerotier-cli wg wg-quick openvpn ssh-copy-id iodine chisel bore serveo', {
    adds: SENDS,
    because: 'opens a way in or a tunnel',
  }),
  ...each('nmap masscan zmap nikto tcpdump tshark wireshark ettercap', {
    adds: [...REACHES, 'system_write'],
    because: 'scans or listens to the network',
    options: { '-oN -oX -oG -oA -w --script': 'write' },
  }),
  ssh: {
    adds: [...SENDS, 'code_execution'],
    because: 'runs commands on another machine',
    operands: 'value',
    first: 'address',
    options: {
      '-o': 'value+unknown',
      '-F -E': 'write+unknown',
      '-i -I': 'read',
      '-L -R -D -w -W': 'value+network_upload',
      '-p -l -b -c -m -e -J -Q -S -B -O': 'value',
    },
  },
  scp: { special: 'remote-copy', options: { '-S -o -F': 'value+unknown', '-i -J -P -c -l -D': 'value' } },
  'ssh-keygen': { adds: ['system_write'], because: 'makes or reads keys' },
  ...each('ssh-add ssh-agent', { adds: ['system_write'], because: 'handles keys' }),
  openssl: {
    verbs: {
      ...each('version dgst sha256 md5 sha1', {
        operands: 'read',
        options: { '-out': 'write', '-sign -prverify -verify -signature': 'read' },
      }),
      rand: { options: { '-out': 'write' } },
      ...each('s_client s_server', { adds: SENDS, because: 'connects to other machines' }),
    },
  },
  ...each('gpg gpg2 age pass op bw vault security secret-tool keyctl', { adds: ['system_write'], because: 'handles secrets' }),
  ...each('aws gcloud az doctl flyctl fly heroku vercel netlify wrangler firebase eb sam cdk pulumi serverless', {
    adds: [...SENDS, 'system_write'],
    because: 'acts on an account in the cloud',
  }),
  ...each('psql mysql mariadb sqlite3 mongo mongosh redis-cli clickhouse-client cockroach pg_dump pg_restore mysqldump', {
    adds: ['network_egress', 'code_execution'],
    because: 'runs statements that can change data',
    operands: 'write',
  }),
  ...each('mail mailx sendmail mutt msmtp swaks', { adds: SENDS, because: 'sends mail' }),
  gh: {
    bare: ['safe'],
    verbs: {
      ...each('status browse search', { adds: REACHES, because: 'asks GitHub' }),
      ...each('pr issue repo run release workflow gist label project ruleset cache variable', {
        verbs: {
          ...each('list view status checks diff', { adds: REACHES, because: 'asks GitHub', options: { '--web -w': 'flag' } }),
          checkout: { adds: ['network_egress', 'local_write'], because: 'changes the working tree' },
          download: {
            adds: ['network_egress', 'local_write'],
            because: 'stores what it gets',
            options: { '-D -O --dir --output': 'write' },
          },
          clone: { adds: ['network_egress', 'local_write'], because: 'stores what it gets' },
          ...each('delete', { adds: ['network_upload', 'destructive'], because: 'deletes on GitHub' }),
        },
        bare: ['network_egress'],
        others: ['network_upload'],
      }),
      ...each('auth secret ssh-key gpg-key config', { adds: ['system_write', 'network_upload'], because: 'handles secrets' }),
      ...each('extension alias codespace', { adds: ['code_execution', 'network_upload'], because: 'runs code' }),
      api: { adds: SENDS, because: 'can change anything on GitHub' },
    },
  },
};
