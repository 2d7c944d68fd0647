const ALLOWED = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'LANG', 'TZ', 'TERM']);
/** What a system without these cannot start a program with. */
const WINDOWS = new Set([
  'SYSTEMROOT',
  'SYSTEMDRIVE',
  'COMSPEC',
  'PATHEXT',
  'WINDIR',
  'TEMP',
  'TMP',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMFILES',
]);
const LOCALE = /^LC_[A-Z]+$/;
const SECRET = /APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|CREDS|PRIVATEKEY|ACCESSKEY|COOKIE|AUTHORIZATION/;

/** Whether a variable of this name is likely to hold a secret. Case, `-` and `_` do not matter. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name.toUpperCase().replace(/[-_]/g, ''));
}

/** The variables a child may see: the allowed ones of `environment`, then `added`, without any secret-looking name. */
export function childEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  added: Readonly<Record<string, string>> = {},
  platform: string = process.platform,
): Record<string, string> {
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && isInherited(name, platform)) child[name] = value;
  }
  for (const [name, value] of Object.entries(added)) {
    if (!isSecretName(name)) child[name] = value;
  }
  return child;
}

function isInherited(name: string, platform: string): boolean {
  if (isSecretName(name)) return false;
  if (platform === 'win32' && (WINDOWS.has(name.toUpperCase()) || name.toUpperCase() === 'PATH')) return true;
  return ALLOWED.has(name) || LOCALE.test(name);
}
