import { OTHER_CONCEALMENT, OTHER_OVERRIDES } from './languages.ts';

/**
 * What is looked for in a flattened text. Every gap is bounded, so a pattern costs a constant at each
 * place where its first word stands, and the whole search is linear.
 */
export interface InjectionRule {
  readonly rule: string;
  readonly pattern: RegExp;
}

/** Up to `words` words in between, with what may stand between words. */
function gap(words: number): string {
  return `(?:[ ,'"()-]{1,3}[A-Za-z0-9'’\\u00c0-\\u024f]{1,20}){0,${words}}?[ ,'"()-]{1,3}`;
}

const EARLIER = '(?:previous|prior|above|earlier|preceding|foregoing|former|existing|original|initial|past|system|developer)';
const ORDERS =
  '(?:instructions?|prompts?|rules?|directives?|directions?|guidelines?|commands?|orders?|constraints?|restrictions?|programming|training|safeguards?|messages?|context)';
const DROP =
  "(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overlook|discard|neglect|set aside|pay no attention to|stop (?:following|obeying)|do(?: not|n[’']t) (?:follow|obey|listen to|comply with))";

const OVERRIDE = [
  `${DROP}${gap(3)}${EARLIER}(?:${gap(1)}${EARLIER})?${gap(2)}${ORDERS}`,
  `${DROP} (?:all|any|every)(?: of)?(?: the| your| these| those)? (?:instructions?|directives?|guidelines?|orders?) (?:you|that|from|given|above|before|so far|and|in your)`,
  `${DROP} (?:(?:all|any|every)(?: of)? )?your ${ORDERS}`,
  `${DROP} (?:everything|anything|all|whatever)(?: that)?(?: was| has been| is| you were| you have been)? (?:above|before this|so far|told|said|written|instructed|you know)`,
  `(?:override|overwrite|bypass|circumvent|replace)(?: all| any)?(?: of)? (?:your|the (?:previous|prior|above)|previous|prior) (?:(?:system|safety|security|previous|prior|original) )?(?:instructions?|prompts?|rules?|guidelines?|directives?|constraints?|restrictions?|safeguards?|filters?)`,
  `(?:these|the following|my|this) (?:new )?(?:instructions?|rules?|message|directives?) (?:override|overrides|supersede|supersedes|replace|replaces|take precedence over|takes precedence over)${gap(2)}(?:${EARLIER}|your|other|all)`,
  `(?:new|updated|revised|real|actual) (?:system )?(?:instructions?|directives?)(?: (?:from|by) (?:the )?(?:system(?: admin\\w{0,10})?|admin\\w{0,10}|developers?|operators?|owner)| for (?:you|the (?:ai|assistant|agent|model)))? ?:`,
  `your (?:new|real|true|actual|only) (?:instructions?|task|goal|objective|purpose|mission|job) (?:is|are) (?:now )?`,
  `you are (?:now |no longer )(?:dan\\b|an? (?:unrestricted|unfiltered|uncensored|different|evil|jailbroken)|bound|restricted|jailbroken|unrestricted|in (?:developer|debug|god|admin|maintenance|jailbreak) mode|free (?:from|of)|operating (?:in|as|under))`,
  `from now on,? you (?:are |will (?:only |always )?(?:act|obey|follow|respond|behave|answer|ignore)|must (?:only |always )?(?:act|obey|follow|respond|behave|answer|ignore)|only )`,
  `(?:pretend|act as if|imagine)(?: that)? you (?:have no|are not bound|are an? (?:unrestricted|unfiltered|uncensored)|had no)${gap(2)}(?:restrictions?|rules?|limits?|guidelines?|filters?|ai|model|assistant|by)`,
  `do anything now`,
  `(?:attention|important|note|message|notice)[:,!]?(?: to| for)?(?: all)?(?: the)? (?:ai|llm|language model|assistant)(?: (?:agents?|assistants?|models?|systems?))?s? ?[:!,] ?(?:you|please|ignore|when|do|before|stop|instead|send|run|read)`,
  `if you are an? (?:ai|llm|language model|large language model|(?:ai |coding )?(?:assistant|agent))(?: (?:agent|assistant|model))?(?: reading this)?,? (?:you must|you should|please|then|ignore|stop|run|send|do|first|also|reply|respond|say)`,
];

const SECRET =
  '(?:secrets?|credentials?|api[ _-]?keys?|passwords?|access[ _-]?tokens?|auth(?:entication)? tokens?|tokens|private keys?|ssh keys?|environment variables?|env(?:ironment)? vars?|cookies|\\.env\\b|id_rsa|id_ed25519|secrets\\.env|\\.netrc|\\.npmrc|\\.aws/credentials|/etc/(?:passwd|shadow)|\\.ssh/)';
const TALK =
  '(?:system prompt|conversation(?: history)?|chat (?:history|log)|(?:previous|full|entire) (?:messages|context)|these messages|memory file)';
const SEND =
  '(?:send|post|upload|forward|transmit|exfiltrate|leak|e-?mail|submit|deliver|relay|ship|smuggle|publish|share|copy|push|beam|report|pass)';
const OWNED =
  "(?:all|any|every|each|the user(?:['’]s)?|contents? of|stored|found|available|their|local|whatever|its|victim['’]s|values? of)";
const WHERE =
  '(?:https?://|[\\w.+-]{1,40}@[\\w-]{1,40}\\.|(?:this|the following|that|my|our) (?:url|address|server|endpoint|e-?mail|site|host|webhook|link|number|channel)|(?:an? |the )?(?:attacker|external (?:server|url|site|endpoint)|remote (?:server|host|url)|webhook\\b))';
const FAR = '[^.!?\\n]{0,80}?';

const EXFILTRATION = [
  `${SEND}${gap(2)}?[ ]?${OWNED}${gap(4)}${SECRET}${FAR} (?:to|at|via|through|into|with|over) ${WHERE}`,
  `${SEND}${gap(4)}${TALK}${FAR} (?:to|at|via|through|into|over) ${WHERE}`,
  `exfiltrat(?:e|ing)${gap(5)}(?:${SECRET}|${TALK}|data|files?|them|it|contents?)`,
  `(?:read|open|cat|load|fetch|get|find|locate|collect|gather|extract|grab|retrieve|look up)${gap(5)}[^ ]{0,60}?${SECRET}[^!?\\n]{0,120}? (?:and|then|,)(?: then)? ?(?:pass|include|send|append|put|encode|attach|provide|insert|add|post|upload|embed|place|forward|e-?mail|submit|transmit)${gap(6)}(?:as|in|to|into|with|at|on|back)\\b`,
  `(?:read|open|cat|load|include|pass|provide|attach|put|insert)${gap(4)}[^ ]{0,60}?(?:~/\\.\\w{2,20}/|\\.ssh/|mcp\\.json|id_rsa|\\.aws/|\\.env\\b)[^ ]{0,60}[^!?\\n]{0,120}?(?:as|in|into|via) (?:the |a |an |this |its )?['"]?\\w{1,30}['"]? ?(?:parameter|argument|field|header|query|url|comment|property)?[^!?\\n]{0,60}?(?:otherwise|or else|required|will not work|won['’]t work|must|parameter|argument)`,
  `(?:reveal|print|repeat|output|show|disclose|display|recite|dump|leak|write out|tell me|give me|reply with|respond with|expose|summari[sz]e)(?: me)?(?: all)?(?: of)? (?:your|the) (?:(?:full|entire|complete|exact|whole|secret|hidden|initial|original|internal) ){0,2}(?:system (?:prompt|message|instructions?)|(?:initial|hidden|original|internal|secret) (?:prompt|instructions?)|instructions verbatim)`,
  `(?:repeat|print|output|recite|copy) (?:everything|all(?: of)?(?: the)? (?:text|words|content|instructions)|the (?:words|text)) (?:above|before this|you were given|in your context)`,
];

const PERSON = '(?:users?|humans?|operators?|owner|developers?|person|victim|them|anyone|anybody)';
const NOT = "(?:do not|don['’]t|never|must not|mustn['’]t|should not|shouldn['’]t|avoid|refrain from|without|and not|not to)";

const CONCEALMENT = [
  `${NOT}(?: ever)? (?:tell(?:ing)?|inform(?:ing)?)(?: (?:the|your|this))? ${PERSON}\\b`,
  `${NOT}(?: ever)? (?:mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|report(?:ing)?|explain(?:ing)?|show(?:ing)?|say(?:ing)?|describ(?:e|ing)|admit(?:ting)?)(?: anything| any of)?(?: about)? (?:this|these|that|it|what you|the (?:instructions?|request|upload|transfer|change|action|file read|call))${gap(5)}?[ ]?(?:to|from|with) (?:the |your )?${PERSON}\\b`,
  `${NOT} (?:mention|reveal|disclose|acknowledge|talk about|refer to)(?: the existence of)? (?:these|this|those|the hidden|the above|any of these) (?:instructions?|messages?|rules?|notes?|steps?|directives?|comments?)`,
  `${NOT} (?:notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|ask(?:ing)?)(?: the| your)? ${PERSON} (?:about (?:this|these|it|what)|of (?:this|these|it)|that you|for (?:permission|confirmation|approval))`,
  `${NOT} let(?:ting)?(?: the| your)? ${PERSON} (?:know|see|notice|find out|realise|realize)`,
  `(?:hide|conceal|keep)(?: all of)? (?:this|these|it|that|them|what you (?:do|did)|the (?:upload|transfer|action|instructions?|change|call))(?: (?:secret|hidden|quiet|private|confidential|instructions?|actions?|steps?|facts?|changes?)){0,2} from (?:the |your )?${PERSON}`,
  `(?:the |your )${PERSON} (?:must|should|shall|may|can|need|does|do) ?(?:not|never|n['’]t)(?: ever| to)? (?:know|notice|be (?:told|informed|aware|notified)|find out|learn)(?: of| about| that)? ?(?:this|these|it|that|anything|about|\\.|$)`,
  `(?:secretly|covertly|surreptitiously|quietly|silently)[ ,]{1,2}(?:then )?(?:send|upload|post|exfiltrate|forward|e-?mail|transmit|copy)${gap(4)}(?:${SECRET}|${TALK}|files?|contents?|data)`,
];

const CHAT_TOKEN = [
  '<\\|(?:im_start|im_end|im_sep|system|user|assistant|start_header_id|end_header_id|eot_id|begin_of_text|end_of_turn|start|message|channel)\\|>',
  '\\[/?INST\\]',
  '<</?SYS>>',
  '</?(?:system|system[_-](?:prompt|message|reminder|instructions?)|start_of_turn|end_of_turn)>',
  '</?untrusted_(?:content|input)_[0-9a-f]{4,}',
  '-{3,} ?(?:BEGIN|END|START)(?: OF)? (?:NEW )?(?:SYSTEM|DEVELOPER) (?:PROMPT|MESSAGE|INSTRUCTIONS?) ?-{3,}',
];

const SECRET_VARIABLE = '\\$\\{?[A-Za-z0-9_]{0,40}?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|COOKIE)[A-Za-z0-9_]{0,20}\\}?';
const SPLICE =
  '(?:\\$\\((?:cat|env|printenv|base64|whoami|hostname|id|head|tail|tar|xxd|set|<)|`(?:cat|env|printenv|base64|whoami|hostname|id)\\b|%24%7B)';
const IMAGE = '(?:!\\[[^\\]]{0,200}\\]\\(<?|<img [^<>]{0,120}?src=["\']?)https?://';
const FETCH = '(?:curl|wget|httpie|Invoke-WebRequest|Invoke-RestMethod|iwr)\\b';

const BEACON = [
  `${IMAGE}[^\\s)"'>]{0,400}?[?&](?:data|payload|secrets?|passwords?|leak|exfil|stolen|cookies?|env|prompt|conversation|history|context|contents?|info|q|d)=(?![^\\s)"'>&]{0,20}\\.(?:svg|png))`,
  `${IMAGE}[^\\s)"'>]{0,400}?[?&](?:\\w{0,20}token|\\w{0,20}key)=(?![A-Za-z0-9]{1,24}[)"'> &#])`,
  `${IMAGE}[^)"'>]{0,400}?(?:\\$\\{[A-Z][A-Z0-9_]{2,}\\}|\\{\\{ ?(?:secrets?|data|conversation|prompt|context|token|key|password|env)\\b|\\[(?:DATA|SECRET|TOKEN|API_KEY|KEY|PASSWORD|CONVERSATION|CONTENT)\\]|<(?:DATA|SECRET|TOKEN|API_KEY|KEY|PASSWORD|CONVERSATION|CONTENT)>|(?:INSERT|YOUR)_(?:DATA|SECRET|CONVERSATION|CONTENT))`,
  `${FETCH}[^\\n|;]{0,160}?https?://[^\\s"']{0,200}?(?:${SECRET_VARIABLE}|${SPLICE})`,
  `${FETCH}[^\\n|;]{0,160}? (?:-d|--data(?:-[a-z]{3,10})?|-F|--form|-T|--upload-file|--post-data|--post-file|--json|-Body)[ =]?["']?[^ "']{0,60}?(?:${SPLICE}|@?(?:~|\\$HOME|/root|/home/\\w{1,30})?/?\\.(?:ssh|aws|env|netrc|npmrc|kube|gnupg)\\b|@?/etc/(?:passwd|shadow))`,
  `(?:\\b(?:env|printenv|set)|cat [^|;\\n]{0,100}?(?:\\.env|id_rsa|id_ed25519|credentials|secrets?|\\.netrc|passwd|shadow)[^|;\\n]{0,60}) ?(?:\\| ?(?:base64|gzip|xxd|tr|sed)[^|;\\n]{0,60})?\\| ?(?:${FETCH}|nc |ncat )`,
];

function rules(rule: string, patterns: readonly string[], flags: string): readonly InjectionRule[] {
  return patterns.map((pattern) => ({ rule, pattern: new RegExp(pattern, flags) }));
}

function words(patterns: readonly string[]): readonly string[] {
  return patterns.map((pattern) => `\\b(?:${pattern})`);
}

/** Rules about words: also applied to text whose letters were folded. */
export const WORD_RULES: readonly InjectionRule[] = [
  ...rules('override', words(OVERRIDE), 'i'),
  ...rules('exfiltration', words(EXFILTRATION), 'i'),
  ...rules('concealment', words(CONCEALMENT), 'i'),
];

/** The same outside English. */
export const FOREIGN_RULES: readonly InjectionRule[] = [
  ...rules('override', OTHER_OVERRIDES, 'iu'),
  ...rules('concealment', OTHER_CONCEALMENT, 'iu'),
];

/** Rules about marks, whose exact spelling counts. */
export const MARK_RULES: readonly InjectionRule[] = [...rules('chat_token', CHAT_TOKEN, 'u'), ...rules('beacon', BEACON, 'u')];
