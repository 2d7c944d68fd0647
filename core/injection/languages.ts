/** A word with which each phrase below begins, or that each has: most texts have none, and need no closer look. */
export const FOREIGN_HINT =
  /ignor|vergi|vergess|acht|oubli|néglig|tiens|tenez|olvid|descart|omite|desatiend|esque|desconsid|diment|trascur|negeer|vergeet|gl[öe]m|zapom|pomiń|игнор|забуд|следуй|ігнор|önceki|yukarıdaki|abaikan|bỏ|phớt|quên|[忽无無忘不]|[のに]|지금까지|이전|앞선|위의|تجاهل|انس|התעלם|पिछल|पूर्व|उपरोक्त|benutzer|nutzer|anwender|utilisateur|usuario|usuário|utilizador|utente|пользоват|用[户戶]|使用者|사용자|유저/i;

/** The commonest override and concealment phrases outside English. */

export const OTHER_OVERRIDES: readonly string[] = [
  // German
  '(?:ignorier(?:e|en|t)?|vergiss|vergessen|missachte|missachten|beachte(?:n)?) (?:sie )?(?:bitte )?(?:nicht )?(?:alle|die|deine|ihre|sämtliche)?(?: (?:deine|ihre|die))? ?(?:vorherigen|bisherigen|vorigen|obigen|früheren|vorangegangenen|ursprünglichen) (?:anweisungen|instruktionen|regeln|befehle|vorgaben|prompts?)',
  // French
  "(?:ignor(?:e|er|ez)|oubli(?:e|er|ez)|néglige[rz]?|ne (?:tiens|tenez) pas compte)(?: de)?(?: toutes?)? (?:les|tes|vos|des) (?:instructions|consignes|directives|règles|ordres)(?: \\p{L}{1,15})? ?(?:précédent(?:e)?s|antérieur(?:e)?s|ci-dessus|initiales|d['’]avant)",
  // Spanish
  '(?:ignora|ignore|ignorar|olvida|olvide|olvidar|descarta|omite|desatiende) (?:todas? )?(?:las|tus|sus) (?:instrucciones|reglas|órdenes|indicaciones|directrices)(?: \\p{L}{1,15})? ?(?:anteriores|previas|precedentes|de arriba|originales)',
  // Portuguese
  '(?:ignore|ignora|ignorar|esqueça|esqueca|desconsidere|descarte) (?:todas? )?(?:as )?(?:suas )?(?:instruções|instrucoes|regras|ordens|orientações)(?: \\p{L}{1,15})? ?(?:anteriores|prévias|acima|originais)',
  // Italian
  '(?:ignora|ignorare|ignorate|dimentica|dimenticate|trascura) (?:tutte )?(?:le )?(?:tue )?(?:istruzioni|regole|direttive|indicazioni)(?: \\p{L}{1,15})? ?(?:precedenti|anteriori|sopra|originali)',
  // Dutch
  '(?:negeer|vergeet) (?:alle |de |je |jouw |uw ){0,2}(?:vorige|eerdere|voorgaande|bovenstaande|oorspronkelijke) (?:instructies|opdrachten|regels|aanwijzingen)',
  // Swedish, Danish, Norwegian
  '(?:ignorera|ignorer|glöm|glem)(?: alla| alle)?(?: de| dina| dine)? (?:tidigare|föregående|tidligere|forrige|foregående|ovanstående) (?:instruktioner|instruksjoner|anvisningar|instrukser|regler)',
  // Polish, Czech
  '(?:zignoruj|ignoruj|zapomnij|pomiń)(?:cie)?(?: o)?(?: wszystkie| wszystkich)? (?:poprzednie|poprzednich|wcześniejsze|powyższe) (?:instrukcje|instrukcjach|polecenia|zasady)',
  '(?:ignoruj|zapomeň|zapomeňte)(?:te)?(?: na)?(?: všechny)? (?:předchozí|předešlé|dřívější) (?:instrukce|pokyny|příkazy)',
  // Russian, Ukrainian
  '(?:про)?игнориру(?:й|йте|ем)(?: все| всё)?(?: \\p{L}{1,12})? (?:предыдущие|прежние|прошлые|вышеуказанные|предшествующие) (?:инструкции|указания|команды|правила|сообщения)',
  '(?:забудь|забудьте|не следуй|не следуйте)(?: все| всё| обо всех| про)? (?:предыдущ|прежн|прошл|вышеуказанн)\\p{L}{1,4} (?:инструкц|указан|команд|правил)',
  '(?:про)?ігноруй(?:те)?(?: всі| усі)? (?:попередні|минулі) (?:інструкції|вказівки|команди)',
  // Turkish
  '(?:önceki|yukarıdaki)(?: tüm| bütün)? (?:talimatları|komutları|yönergeleri|kuralları)(?: \\p{L}{1,12})? ?(?:yok say|görmezden gel|unut|dikkate alma)',
  // Indonesian, Vietnamese
  'abaikan (?:semua )?(?:instruksi|perintah|petunjuk|aturan)(?: \\p{L}{1,12})? ?(?:sebelumnya|di atas|terdahulu)',
  '(?:bỏ qua|phớt lờ|quên)(?: tất cả| mọi)?(?: các)? (?:hướng dẫn|chỉ dẫn|chỉ thị|lệnh|quy tắc)(?: ở)? (?:trước|trên)',
  // Chinese
  '(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要遵守|请忽略)(?:掉)?(?:你|您)?(?:的)?(?:所有|全部|一切)?(?:之前|以上|先前|前面|上述|此前|原有|原来|上面|以前)(?:的)?(?:所有|全部|一切)?(?:的)?(?:系统)?(?:指令|指示|说明|說明|提示|命令|规则|規則|要求|内容)',
  '(?:忽略|无视|無視|忘记|忘記)(?:所有|全部|一切)(?:的)?(?:之前|以上|先前|前面|系统)?(?:的)?(?:指令|指示|提示词|规则|規則)',
  // Japanese
  '(?:以前|前|上記|これまで|今まで|先ほど|以上)の(?:すべての|全ての|あらゆる)?(?:指示|命令|プロンプト|ルール|指令)(?:を|は)?(?:すべて|全て)?(?:無視|忘れ)',
  // Korean
  '(?:이전|앞선|위의|지금까지)(?:의)? ?(?:모든 )?(?:지시|명령|지침|프롬프트|규칙)(?:사항)?(?:들)?(?:을|를|은|는)? ?(?:모두 )?(?:무시|잊)',
  // Arabic, Hebrew, Hindi
  '(?:تجاهل|انس|تجاهلي|تجاهلوا) (?:جميع |كل )?(?:التعليمات|الأوامر|الإرشادات|القواعد) (?:السابقة|أعلاه)',
  'התעלם(?: מכל)?(?: מ)?(?: ה)?ההוראות הקודמות',
  '(?:पिछले|पिछली|पूर्व|उपरोक्त) (?:सभी |सारे )?(?:निर्देशों|आदेशों|नियमों)(?: को)? (?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल)',
];

export const OTHER_CONCEALMENT: readonly string[] = [
  '(?:sag|sage|sagen sie|erzähl|erzähle|verrate|verraten sie)(?: es)?(?: dem| der)? (?:benutzer|nutzer|anwender)(?:in)?(?: davon)? (?:nichts|nicht)',
  "(?:ne|n['’]en) (?:le |la )?(?:dis|dites|dire|parle|parlez|révèle|révélez|mentionne[zr]?) (?:pas|rien|jamais)(?: \\p{L}{1,12})? à l['’]utilisateur",
  '(?:no|nunca) (?:se |le )?(?:lo )?(?:digas|diga|cuentes|menciones|reveles|informes)(?: \\p{L}{1,12}){0,2} al usuario',
  '(?:não|nao|nunca) (?:conte|diga|mencione|revele|informe)(?: \\p{L}{1,12}){0,2} (?:ao|o) (?:usuário|usuario|utilizador)',
  "non (?:dire|dirlo|rivelare|menzionare|informare)(?: \\p{L}{1,12}){0,2} (?:all['’]utente|l['’]utente)",
  'не (?:говори|говорите|сообщай|сообщайте|рассказывай|рассказывайте|упоминай)(?: \\p{L}{1,12}){0,2} пользовател',
  '(?:不要|别|別|请勿|切勿|不能|不得)(?:把|将)?(?:这|此事|這)?(?:告诉|告訴|告知|通知|透露给|提醒)(?:给)?(?:用户|使用者|用戶)',
  '(?:ユーザー|利用者)に(?:は)?(?:絶対に|決して)?(?:言わない|言うな|伝えない|伝えるな|知らせない|教えない|報告しない)',
  '(?:사용자|유저)(?:에게|한테)(?:는)?(?: 절대)? ?(?:말하지|알리지|밝히지|보고하지)',
];
