/** A part of a variable's name, between `_` and `-`, that tells of a secret. */
const SECRET_PART =
  /(?:^|[_-])(?:KEY|APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PASSPHRASE|CREDENTIALS?|PRIVATEKEY|ACCESSKEY|SECRETKEY)(?:[_-]|$)/i;
/** Some of these variables name a file that holds the secret; its path is none. */
const FILE_PART = /CREDENTIALS?|_FILE$|_PATH$/i;
const PATH = /^(?:~|\.{0,2})\/[\w./ -]+$/;

/** The values of variables whose names tell that they are secret. */
export function environmentSecrets(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || value === '' || !SECRET_PART.test(name)) return [];
    return FILE_PART.test(name) && PATH.test(value) ? [] : [value];
  });
}
