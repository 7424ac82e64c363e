//! Concepts: words that tell the type of a sentence, whatever its subject: always, never, from now
//! on, why, can you. One name for each in eight languages, so that a rule for one language works
//! for all.

use crate::memory::capture::phrases::{PhraseKey, PhraseLine, PhraseTable, count};

/// Concepts and their phrases, separated by `|`.
pub(super) const TABLE: &[PhraseLine] = &[
    (
        "ALWAYS",
        "always|allways|alwyas|every time|each time|every single time|without exception|no exceptions|at all times|immer|stets|jedes mal|grundsätzlich|ausnahmslos|toujours|à chaque fois|systématiquement|siempre|cada vez|sempre|toda vez|ogni volta|いつも|常に|必ず|毎回|总是|始终|一律|务必|每次|永远都|一定要|一直",
    ),
    (
        "NEVER",
        "never|nver|not ever|under no circumstances|niemals|nie|nie wieder|auf keinen fall|jamais|nunca|jamás|nunca mais|mai|mai più|絶対に|決して|二度と|永远不要|绝不|绝对不要|千万别|千万不要|从不|从来不|绝对不能",
    ),
    (
        "DONT",
        "don't|dont|do not|don t|doesn't|doesnt|does not|shouldn't|should not|mustn't|must not|can't|cannot|cant|won't|isn't|aren't|isnt|arent|is not|are not|ain't|nicht|kein|keine|keinen|keiner|nichts|n'utilise pas|ne|pas|no uses|no utilices|não|nao|non|しないで|ないで|使わないで|禁止|不可|ません|してはいけない|しない|不要|别|不能|不许|不准|勿|不用|不应该|没有|不是|不|別|請勿|请勿",
    ),
    (
        "STOP",
        "stop|quit|cease|knock it off|enough with|no more|lay off|hör auf|hören sie auf|lass das|arrête|arrêtez|arrete|cesse|deja de|dejá de|para de|pare de|parem de|chega de|basta|smetti|smettila|smetti di|やめて|やめてください|停止|不要再|别再",
    ),
    (
        "AVOID",
        "avoid|refrain|skip|steer clear|ditch|drop|vermeide|vermeiden|évite|évitez|evita|evite|evitar|evitare|避けて|避免",
    ),
    ("NO", "no|nope|nah|naw|nein|nö|nee|いや|いいえ|違う|違います|ちがう|不对|错了|不是这样"),
    (
        "NOWON",
        "from now on|from here on|from here on out|from this point on|going forward|moving forward|henceforth|as of now|as of today|starting now|starting today|from today|ab jetzt|ab sofort|von jetzt an|künftig|ab heute|désormais|dorénavant|à partir de maintenant|a partir de maintenant|de ahora en adelante|a partir de ahora|en adelante|de hoy en adelante|de agora em diante|daqui para frente|daqui pra frente|a partir de agora|d'ora in poi|da ora in poi|d'ora in avanti|da adesso in poi|これからは|从现在开始|从现在起|今后|as from now|from today on|from this sprint on|from tomorrow on|今後もずっと|以后都|今後は|以后一律|keep doing that|for good|once and for all|ab sofort immer|künftig immer",
    ),
    (
        "LATER",
        "in future|in the future|for the future|for future reference|onwards|next time|whenever|in zukunft|zukünftig|à l'avenir|en el futuro|in futuro|今後|これから|以後|以后|往后|下次",
    ),
    (
        "REMEMBER",
        "remember|keep in mind|bear in mind|note that|note to self|make a note|take note|don't forget|dont forget|never forget|for the record|heads up|reminder|fyi|btw|by the way|psa|jfyi|zur info|denk daran|denk dran|merk dir|merke dir|vergiss nicht|übrigens|souviens-toi|rappelle-toi|n'oublie pas|retiens|note bien|pour info|au fait|recuerda|acuérdate|ten en cuenta|no olvides|por cierto|para que sepas|lembre-se|lembra|lembre|não esqueça|a propósito|ricorda|ricordati|tieni presente|non dimenticare|per la cronaca|comunque|覚えておいて|覚えて|ちなみに|忘れないで|なお|记住|请记住|注意|顺便|顺便说一下|别忘了|提醒",
    ),
    (
        "ASARULE",
        "as a rule|by default|by convention|our convention|the convention|convention|the rule|house rule|the rule is|rule|rules|policy|our policy|standard|our standard|style guide|guideline|guidelines|hard rule|in general|generally|normally|usually|regel|grundregel|konvention|standardmäßig|règle|par défaut|par convention|convenção|por convenção|por padrão|regla|por defecto|por convención|convención|regola|convenzione|di default|per convenzione|ルール|規約|原則|原則として|基本的に|规则|规范|约定|默认|原则上|规定",
    ),
    (
        "PREFER",
        "prefer|preference|i like|i'd rather|id rather|i would rather|i favor|i favour|we favor|we favour|we like|lieber|bevorzuge|bevorzugen|ich mag|je préfère|préfère|préférons|on préfère|prefiero|preferimos|me gusta|prefiro|preferimos|preferisco|preferiamo|mi piace|好み|の方がいい|方が好き|ほうが好き|方がいい|我喜欢|更喜欢|偏好|我们更倾向|倾向",
    ),
    (
        "HATE",
        "i hate|i can't stand|i cant stand|hate|can't stand|drives me nuts|drive me nuts|drives me crazy|i don't like|i dont like|i dislike|annoying|not a fan|sick of|tired of|ich hasse|ich mag keine|nervt|je déteste|j'aime pas|je n'aime pas|odio|no me gusta|não gosto|odeio|detesto|non mi piace|嫌い|讨厌|不喜欢",
    ),
    (
        "WE",
        "we|we've|we're|weve|everyone here|the team|our team|everybody|wir|das team|nous|l'équipe|nosotros|el equipo|a gente|nós|o time|a equipe|noi|il team|我们|咱们|团队|うちでは|うちは|私たち|チーム|弊社",
    ),
    (
        "OUR",
        "our|ours|unser|unsere|unserem|unseren|unserer|notre|nos|nuestro|nuestra|nuestros|nosso|nossa|nossos|nossas|nostro|nostra|nostri|nostre|うちの|我们的|我们项目",
    ),
    (
        "WEUSE",
        "we use|we're using|we are using|we're on|we are on|we run|we only use|we always use|we use only|we stick to|we stick with|we go with|we standardized on|we standardised on|we settled on|we moved to|we migrated to|we switched to|we've switched to|we've moved to|wir verwenden|wir benutzen|wir nutzen|wir nehmen|wir arbeiten mit|wir setzen|nous utilisons|on utilise|on se sert|usamos|utilizamos|a gente usa|aqui usamos|aquí usamos|usiamo|utilizziamo|si usa|を使っています|を使ってます|使っている|我们用|我们使用|我们都用|我们这里用|统一使用|统一用",
    ),
    (
        "USE",
        "use|using|uses|utilize|verwende|verwenden|benutze|benutzen|nutze|nutzen|nimm|nehmen|utilise|utiliser|utilisez|sers-toi|usa|use|usar|utiliza|utilice|utilizar|usá|usate|utilizza|usare|使って|使用して|使用する|使う|使用|采用|用",
    ),
    (
        "STICK",
        "stick to|stick with|keep to|follow|adhere|conform|go with|respect|halte dich|folge|suis|respecte|sigue|respeta|siga|segui|rispetta|従って|守って|遵守|遵循|按照",
    ),
    (
        "PUTV",
        "put|place|goes|go|belong|belongs|live|lives|keep|store|stay|stays|gehören|gehört|kommen|leg|lege|liegt|liegen|mets|mettez|met|vont|va|se trouve|se trouvent|pon|poné|van|vive|viven|coloca|coloque|coloca|ficam|fica|vão|metti|mettere|vanno|sta|stanno|si trova|si trovano|置いて|配置|入れて|あります|放在|放到|放|位于|存放",
    ),
    (
        "MUST",
        "must|have to|has to|need to|needs to|gotta|got to|ought to|required|mandatory|is a must|muss|müssen|musst|zwingend|pflicht|doit|doivent|il faut|obligatoire|debe|deben|tiene que|tienen que|hay que|obligatorio|deve|devem|tem que|têm que|precisa|obrigatório|devono|bisogna|obbligatorio|occorre|必須|なければならない|なければなりません|べき|必须|需要|得",
    ),
    (
        "SHOULD",
        "should|shall|supposed to|meant to|soll|sollen|sollte|sollten|devrait|devraient|debería|deberían|deveria|deveriam|dovrebbe|dovrebbero|应该|应当",
    ),
    (
        "ONLY",
        "only|solely|exclusively|nothing but|nur|ausschließlich|seulement|uniquement|solo|sólo|solamente|únicamente|só|somente|apenas|soltanto|esclusivamente|だけ|のみ|しか|只|仅|只能|只用",
    ),
    (
        "INSTEAD",
        "instead|instead of|rather than|in place of|not with|over|statt|stattdessen|anstatt|anstelle|sondern|au lieu|au lieu de|plutôt que|à la place|en vez de|en lugar de|em vez de|ao invés de|no lugar de|invece|invece di|invece che|anziché|al posto di|の代わりに|代わりに|ではなく|じゃなくて|じゃなく|而不是|代替|而非|改用|别用|不要用",
    ),
    (
        "YOU",
        "you|you're|your|u|du|dein|deine|sie|tu|te|ton|ta|vous|tú|vos|você|voce|lei|君|あなた|你|您",
    ),
    ("I", "i|i'm|im|i've|ive|i'd|ich|je|j'ai|yo|eu|io|私|俺|僕|我"),
    (
        "TOLDYOU",
        "i told you|i've told you|told you|i already said|i said|i've said|like i said|as i said|as i mentioned|how many times|how often|once again|for the last time|for the third time|again and again|i keep telling|i keep saying|i already told|ich habe doch gesagt|habe ich doch gesagt|hab ich schon gesagt|wie gesagt|je t'ai dit|je t'ai déjà dit|je l'ai déjà dit|comme je l'ai dit|te dije|ya te dije|ya dije|te he dicho|como dije|eu já disse|já falei|já disse|ja falei|te falei|te l'ho detto|ti ho detto|ho già detto|te l'ho già detto|前にも言った|言ったよね|何度も言|言いましたよね|我说过|跟你说过|说过了|说了多少次|都说了",
    ),
    (
        "YOUKEEP",
        "you keep|you always|you keep on|you kept|you constantly|you again|yet again|you still|why do you keep|keep doing|du machst immer|schon wieder|ständig|tu continues|encore une fois|tu remets|otra vez|sigues|de novo|você continua|outra vez|continui a|di nuovo|ancora una volta|また|何度も|又|老是|总是给我",
    ),
    (
        "YOUDID",
        "you used|you put|you added|you wrote|you made|you changed|you did|you created|you removed|you deleted|you moved|you named|you picked|you chose|you ran|you set|you installed|you broke|you assumed|you imported|you went|you committed|you pushed|you've|you just|you were|you hardcoded|du hast|tu as|vous avez|has usado|has puesto|usaste|pusiste|hiciste|você usou|você colocou|você fez|hai usato|hai messo|hai fatto|hai aggiunto|あなたは|你用了|你把|你写的|你刚才|你又",
    ),
    (
        "WHYDID",
        "why did you|why'd you|why are you|why do you|why would you|why you|warum hast du|warum nimmst du|warum machst du|pourquoi tu|pourquoi as-tu|pourquoi t'as|por qué has|por qué usaste|por qué usas|por que você|perché hai|perché usi|なんで|どうして|为什么你|你为什么|你怎么|怎么又",
    ),
    (
        "WHY",
        "why|how come|wieso|warum|weshalb|pourquoi|por qué|porqué|por que|porque é que|perché|perche|come mai|なぜ|何故|为什么|为何|为啥",
    ),
    (
        "HOW",
        "how|how do|how to|how does|wie|wie kann|comment|cómo|como|come|どうやって|どう|どのように|怎么|如何|怎样",
    ),
    (
        "WHAT",
        "what|what's|whats|which|was ist|welche|welcher|welches|quel|quelle|quels|qu'est-ce|que es|qué|cuál|cual|qual|quais|o que|che cosa|cosa|quale|何|どれ|どの|どちら|什么|哪个|哪些|哪里",
    ),
    (
        "WHEREWHO",
        "where|when|who|wo|wann|wer|où|quand|qui|dónde|cuándo|onde|quando|dove|どこ|いつから|谁|什么时候",
    ),
    (
        "AUXQ",
        "is it|is there|are there|is that|is this|do we|does it|does this|does that|do you|did we|did it|should i|should we|can i|can we|could we|would it|would you|will it|isn't it|shouldn't we|don't we|are we|am i|was it|were there|has anyone|have we|have you|do i|est-ce que|est-ce qu'il|gibt es|soll ich|sollen wir|sollten wir|kann man|kann ich|haben wir|debo|debería usar|podemos|existe|há|devo|dobbiamo|posso|conviene|でしょうか|ですか|ますか|んですか|かな|吗|呢|是不是|有没有|要不要|能不能|可不可以|是否",
    ),
    (
        "CANYOU",
        "can you|could you|can u|could u|would you mind|will you|mind|kannst du|könntest du|können sie|könnten sie|peux-tu|tu peux|pourrais-tu|pouvez-vous|puedes|podrías|puede|pode|você pode|consegue|poderia|puoi|potresti|riesci a|してもらえ|してくれ|してくれる|お願いします|お願い|もらえますか|能帮我|帮我|你能|可以帮|麻烦|请帮",
    ),
    (
        "PLEASE",
        "please|pls|plz|kindly|bitte|s'il te plaît|s'il vous plaît|stp|svp|por favor|porfa|per favore|per piacere|ください|下さい|请|請",
    ),
    (
        "THANKS",
        "thanks|thank you|thx|ty|cheers|much appreciated|danke|merci|gracias|obrigado|obrigada|valeu|grazie|ありがとう|谢谢|多谢|感谢",
    ),
    (
        "NICE",
        "nice|great|perfect|awesome|lgtm|looks good|good job|well done|love it|cool|sweet|works|it works|works now|super|prima|parfait|génial|perfecto|genial|perfeito|ótimo|perfetto|ottimo|すごい|完璧|いいね|很好|不错|太好了|完美",
    ),
    (
        "SORRY",
        "sorry|my bad|oops|whoops|nvm|nevermind|never mind|wrong tab|wrong window|forget it|forget that|forget what i said|scratch that|ignore that|disregard|no problem|no worries|np|no rush|no idea|no clue|no need|not sure|vergiss es|egal|kein problem|schon gut|keine ahnung|entschuldigung|laisse tomber|pas de problème|désolé|aucune idée|no hay problema|perdón|olvídalo|no pasa nada|ni idea|sem problema|desculpa|esquece|deixa pra lá|non importa|nessun problema|scusa|lascia stare|lascia perdere|すみません|ごめん|気にしないで|大丈夫|没关系|没事|算了|抱歉|不好意思|不客气",
    ),
    (
        "FORNOW",
        "for now|right now|just now|this time|this once|just this once|for the moment|at the moment|temporarily|for today|today|tonight|tomorrow|yet|until|till|for a sec|real quick|quickly|in the meantime|meanwhile|this morning|for this one|for once|just for|one-off|one off|throwaway|first|then|before we|while i|while we|this week|this sprint|diesmal|dieses mal|vorerst|erstmal|erst mal|zunächst|noch nicht|jetzt|heute|gerade|bis|pour l'instant|pour le moment|cette fois|cette fois-ci|aujourd'hui|pas encore|d'abord|por ahora|de momento|esta vez|hoy|todavía|aún|hasta|primero|por enquanto|desta vez|dessa vez|hoje|ainda não|ainda|até|primeiro|por agora|per ora|per adesso|stavolta|questa volta|oggi|ancora|fino|prima|今回|今は|とりあえず|まだ|今日|一旦|先に|暂时|这次|这一次|今天|先|目前|现在|还没",
    ),
    (
        "THIS",
        "this|that|these|those|it|this one|this file|this function|this pr|this branch|this test|this component|this page|this class|this method|this button|this script|this commit|this bug|this error|dies|diese|dieser|diesen|diesem|dieses|das hier|es|ce|cette|cet|ces|ça|celui-ci|este|esta|estos|estas|eso|esto|ese|esa|isso|isto|esse|essa|deste|desta|nesse|nessa|neste|nesta|questo|questa|questi|queste|quello|quella|この|これ|その|それ|这个|这里|这段|该|那个|这",
    ),
    ("HERE", "here|in here|hier|ici|aquí|acá|aqui|qui|ここ|ここでは|这里|此处|这儿"),
    (
        "INREPO",
        "in this repo|in this project|in this codebase|in our repo|in our project|in our codebase|this repo|this project|this codebase|the repo|the project|the codebase|this monorepo|this app|this team|this service|this package|our codebase|our repo|repo-wide|around here|in this workspace|in diesem repo|in diesem projekt|dieses projekt|dieses repo|im projekt|dans ce projet|dans ce repo|dans ce dépôt|ce projet|ce dépôt|en este proyecto|en este repo|este proyecto|este repo|neste projeto|nesse projeto|neste repo|este projeto|nesse repo|in questo progetto|in questo repo|questo progetto|questa repo|このプロジェクト|このリポジトリ|本プロジェクト|本リポジトリ|这个项目|本项目|这个仓库|项目里|项目中|本仓库|这个工程",
    ),
    (
        "UNIVERSAL",
        "in all my projects|in all our projects|all my projects|all my repos|in all my repos|all projects|all repos|every project|every repo|every repository|any repo|any project|in any repo|in any project|in every project|in every repo|across projects|across all projects|across repos|whatever the repo|whatever the project|whatever the language|no matter the repo|no matter the project|no matter which project|no matter what project|no matter which repo|regardless of the repo|regardless of the project|regardless of project|not just here|not just this repo|not just this project|for all projects|for all my projects|for every project|wherever i work|in allen meinen projekten|in allen projekten|allen projekten|allen meinen repos|projektübergreifend|egal welches projekt|egal in welchem projekt|egal welches repo|dans tous mes projets|tous mes projets|tous les projets|quel que soit le projet|en todos mis proyectos|todos mis proyectos|todos los proyectos|en cualquier proyecto|sea cual sea el proyecto|em todos os meus projetos|todos os meus projetos|todos os projetos|em qualquer projeto|in tutti i miei progetti|tutti i miei progetti|tutti i progetti|in qualsiasi progetto|すべてのプロジェクト|全プロジェクト|全てのプロジェクト|どのプロジェクトでも|所有项目|我所有的项目|我的所有项目|任何项目|不管什么项目|不管哪个项目|无论哪个项目|everywhere i work|everywhere i go|everywhere not just here|whatever repo|whatever project|whichever repo|whichever project|any repo i|for everything i do|in everything i do|for all my work|all my work|all of my projects|all of my repos|all of my code|all my code|every project of mine|every repo of mine|every codebase|any codebase|all codebases|not just for this repo|not just for this project|for all repos|for all of them|all the repos|every one of my projects|every single project|every single repo|wherever i am|on all my machines|in whatever i|not only in this repo|not only this repo|not only for this project|不管在哪个项目|所有的项目|全部项目|每个项目|すべての案件|全リポジトリ|jedem projekt|in jedem projekt|jedem repo|alle meine projekte|allen repos|chaque projet|tous mes dépôts|tous les dépôts|cada proyecto|todos mis repos|todos los repos|cada projeto|todos os repos|todos os meus repos|ogni progetto|tutti i repo|tutti i miei repo|egal in welchem repo",
    ),
    (
        "EVERYWHERE",
        "across all|anywhere|dappertutto|em todo lugar|en todas partes|everywhere|globally|not only here|ovunque|partout|überall",
    ),
    (
        "SAYS",
        "says|say|said|claims|claim|claimed|tells|told me|suggests|suggested|recommends|recommended|recommend|mentions|mentioned|according to|apparently|supposedly|i read|i heard|i've heard|read that|heard that|wrote that|states|argues|insists|insisted|keeps saying|keeps telling|complained|wants us|wants me|reads|stating|thinks|sagt|sagte|meint|meinte|behauptet|laut|empfiehlt|steht|gelesen|gehört dass|dit|disent|prétend|selon|d'après|recommande|il paraît|j'ai lu|dice|dicen|dijo|según|recomienda|he leído|leí|afirma|diz|dizem|disse|segundo|recomenda|li que|afirma|dicono|ha detto|secondo|consiglia|ho letto|sostiene|によると|と言って|と書いて|そうです|らしい|と言われ|说是|据说|听说|文档说|说要|他说|她说|建议|声称|写着|里说",
    ),
    (
        "SOURCE",
        "the docs|docs|documentation|readme|the readme|my boss|my manager|my colleague|my coworker|coworker|colleague|reviewer|the reviewer|my teammate|teammate|a friend|stack overflow|stackoverflow|the tutorial|tutorial|the blog|blog post|article|the linter|linter says|eslint says|copilot|chatgpt|the book|the spec|someone|somebody|people|client|the customer|professor|prof|the intern|mein kollege|kollege|chef|doku|dokumentation|mon collègue|collègue|la doc|mon chef|mi compañero|compañero|mi jefe|la documentación|meu colega|colega|meu chefe|a documentação|collega|il mio capo|la documentazione|同僚|上司|ドキュメント|公式|先輩|同事|老板|文档|官方|网上|有人",
    ),
    (
        "IF",
        "if|in case|what if|suppose|assuming|imagine|let's say|say we|hypothetically|in theory|would|wouldn't|could|might|maybe|perhaps|probably|wenn|falls|angenommen|würde|würden|könnte|vielleicht|si|au cas où|imaginons|supposons|serait|peut-être|sería|supongamos|tal vez|quizás|quizá|a lo mejor|se|caso|suponha|seria|talvez|supponiamo|sarebbe|forse|もし|仮に|かもしれない|たら|如果|假如|要是|假设|也许|可能|或许",
    ),
    (
        "UNSURE",
        "wondering|i wonder|curious|not sure|unsure|i think|i guess|i'm thinking|thinking about|thinking of|thoughts|opinion|what do you think|ideas|considering|debating|worth it|makes sense|make sense|is it ok|does that make sense|ich glaube|ich denke|was meinst du|ich frage mich|je me demande|je pense|tu penses|creo que|me pregunto|qué opinas|qué te parece|acho que|será que|o que você acha|estava pensando|credo|mi chiedo|che ne pensi|secondo te|思う|と思います|どう思う|我觉得|我想|你觉得|怎么样|在想",
    ),
    (
        "WAS",
        "was|were|had|did|been|used to|yesterday|last week|last time|last month|last year|years ago|ago|earlier|previously|back then|back when|once|tried|turned out|ended up|war|waren|hatte|hatten|gestern|letzte woche|früher|était|avait|hier|la semaine dernière|ayer|la semana pasada|fue|era|ontem|semana passada|foi|ieri|la settimana scorsa|stato|昨日|先週|ました|でした|昨天|上周|之前|以前|上次|了",
    ),
    (
        "STILL",
        "still|same error|same thing|same issue|same problem|same result|still broken|still failing|still fails|still not|still doesn't|still the same|not working|doesn't work|doesnt work|does not work|didn't work|didnt work|did not work|not fixed|isn't fixed|no luck|no change|no difference|nothing changed|broken|broke|again|try again|retry|redo|do it again|another go|not what i|not quite|wrong|that's wrong|not right|that's not|thats not|this isn't|that isn't|immer noch|immer noch nicht|noch immer|geht nicht|funktioniert nicht|klappt nicht|nochmal|noch mal|versuch's nochmal|falsch|derselbe fehler|gleicher fehler|toujours pas|encore|ne marche pas|marche pas|ne fonctionne pas|fonctionne pas|même erreur|réessaie|recommence|sigue sin|sigue fallando|no funciona|mismo error|el mismo error|inténtalo de nuevo|intenta de nuevo|prueba otra vez|ainda não funciona|não funciona|não funcionou|mesmo erro|o mesmo erro|tenta de novo|tente novamente|continua dando|non funziona|ancora non|stesso errore|lo stesso errore|riprova|まだ|動かない|動きません|直ってない|直っていません|同じエラー|もう一度|やり直し|違います|还是不行|还是报错|还是一样|还是|没用|不行|同样的错误|再试|重新|重来|不对|没解决|依然",
    ),
    (
        "FORGOT",
        "you forgot|forgot|you missed|missed|you left out|left out|you didn't|you didnt|you did not|you skipped|you ignored|you only did|not what i asked|not what i meant|not what i wanted|i asked for|i asked you|i meant|i wanted|you misunderstood|misread|du hast vergessen|vergessen|nicht was ich|das meinte ich nicht|so war das nicht gemeint|tu as oublié|oublié|ce n'est pas ce que|c'est pas ce que|olvidaste|te olvidaste|te faltó|no es lo que|no era lo que|você esqueceu|esqueceu|faltou|não foi isso|não é isso|não era isso|hai dimenticato|dimenticato|non è quello che|non intendevo|忘れて|忘れてる|そうじゃなく|そういう意味じゃ|頼んだ|你忘了|忘了|漏了|不是我要的|不是我想要|不是这个意思|没有按",
    ),
    (
        "LETS",
        "let's|lets|let us|lass uns|on va|allons|vamos|andiamo|facciamo|しましょう|咱们来|我们来|让我们",
    ),
    (
        "WANT",
        "i want|i want you to|i'd like|i would like|we want|i need|i need you to|i expect|make sure|ensure|be sure|ich will|ich möchte|ich hätte gern|achte darauf|stell sicher|je veux|je voudrais|j'aimerais|assure-toi|veille à|quiero|quisiera|me gustaría|asegúrate|quero|gostaria|certifique-se|garanta|voglio|vorrei|assicurati|してほしい|欲しい|して欲しい|ようにして|ようにしてください|我要|我想要|我希望|希望|确保|保证",
    ),
    (
        "BECAUSE",
        "because|cuz|cause|bc|since|otherwise|or else|that's why|so that|reason|weil|denn|sonst|da|parce que|car|sinon|puisque|porque|ya que|pois|senão|altrimenti|siccome|poiché|ので|だから|から|ため|因为|否则|不然|所以|由于",
    ),
    (
        "BUT",
        "but|however|though|although|except|unless|aber|außer|mais|sauf|pero|excepto|salvo|mas|exceto|però|tranne|ma|でも|けど|ただし|但是|但|不过|除非|除了",
    ),
    (
        "ACTUALLY",
        "actually|i'd say|id say|i would say|i must say|let's just say|wait|hold on|hmm|hm|eigentlich|moment|warte|en fait|attends|en realidad|espera|de hecho|na verdade|peraí|aspetta|in realtà|待って|实际上|其实|等等|等一下",
    ),
    (
        "OK",
        "ok|okay|alright|yes|yeah|yep|sure|fine|right|got it|ja|okej|gut|oui|d'accord|bon|sí|vale|bueno|sim|beleza|certo|va bene|はい|うん|好的|好|嗯|行",
    ),
    (
        "ALLOF",
        "all|every|each|any|everything|anything|alle|jede|jeder|jedes|jeden|allen|tous|toutes|tout|toute|chaque|todos|todas|todo|toda|cada|cualquier|qualquer|tutti|tutte|tutto|ogni|qualsiasi|全て|すべて|全部|各|所有|每个|任何",
    ),
    (
        "ALSO",
        "also|and|plus|too|as well|auch|und|aussi|et|también|y|também|e|anche|も|また、|也|还有|另外|并且",
    ),
    (
        "IS",
        "is|are|'s|be|being|ist|sind|est|sont|es|son|está|están|é|são|fica|è|sono|です|である|是|为",
    ),
    (
        "ONEOFFV",
        "fix|make|change|rename|add|remove|delete|update|move|refactor|implement|create|generate|explain|show|check|look|find|debug|review|summarize|translate|convert|replace|rewrite|investigate|revert|undo|try|help|write|print|list|read|open|set|bump|install|merge|rebase|push|commit|run|start|build|deploy|test|give|tell|extract|split|sort|format|draw|draft|repro|reproduce|optimize|optimise|clean|port|hook|wire|finish|continue|go ahead|mach|füge|lösche|ändere|schreib|erstelle|zeig|erklär|prüfe|behebe|ajoute|supprime|corrige|change|explique|montre|crée|écris|vérifie|renomme|añade|agrega|borra|elimina|cambia|corrige|arregla|explica|muestra|crea|escribe|revisa|renombra|adiciona|adicione|remove|remova|muda|corrija|explique|mostra|mostre|cria|crie|escreve|escreva|verifica|renomeie|aggiungi|rimuovi|cancella|cambia|correggi|spiega|mostra|crea|scrivi|controlla|rinomina|sistema|直して|追加して|削除して|修正して|変更して|教えて|説明して|書いて|作って|見て|修复|修改|添加|删除|解释|写一个|改成|改一下|看一下|看看|加一个|生成|检查|重命名",
    ),
    (
        "DOV",
        "run|runs|call|name|named|return|returns|start|starts|end|log|wrap|sort|indent|import|export|prefix|suffix|pin|squash|rebase|tag|ask|answer|respond|reply|comment|document|mock|throw|handle|validate|cache|format|lint|type|declare|define|group|order|quote|escape|führe|benenne|schreibe|antworte|lance|nomme|réponds|ejecuta|nombra|responde|rode|execute|nomeie|responda|esegui|lancia|chiama|rispondi|実行して|実行|書く|命名|回答|返回|执行|运行|跑|回复",
    ),
    (
        "OPS",
        "deploy|deploys|deployed|deployment|deployments|release|releases|released|ship|shipped|migration|migrations|migrate|ci|cd|pipeline|pipelines|branch|branches|push|pushed|merge|merged|merges|rebase|commit|commits|pr|prs|build|builds|built|docker|docker-compose|compose|kubernetes|k8s|helm|kubectl|terraform|ansible|jenkins|github actions|gitlab ci|workflow|workflows|make|makefile|justfile|script|cron|nightly|prod|production|staging|tests|test|suite|e2e|lint|linter|run|cluster|rollback|hotfix|tag|tags|tagged|changelog|container|image|registry|artifact|main|master|develop|trunk|force push|env|server|start|dev server|ausrollen|veröffentlich|tests laufen|zweig|déploiement|déployer|déploie|branche|branches|despliegue|desplegar|despliega|rama|ramas|pruebas|compilar|compila|implantação|ramo|testes|migrações|migraciones|distribuzione|rilascio|rilasci|migrazioni|デプロイ|ビルド|マイグレーション|ブランチ|テスト|リリース|本番|コミット|プッシュ|部署|发布|上线|构建|编译|迁移|分支|测试|提交|合并|推送|流水线|生产环境",
    ),
    (
        "INFRA",
        "port|ports|url|endpoint|endpoints|api|database|db|table|tables|column|columns|schema|bucket|queue|host|hostname|region|service|services|module|modules|folder|directory|directories|repo|repository|package|version|versions|legacy|server|servers|cluster|config|settings|cache|redis|postgres|mysql|kafka|s3|auth|field|ids|id|format|timezone|utc|units|default|located|codebase|frontend|backend|client|tenant|tenants|owner|owned|vendored|generated|written|written in|data|stored|uses|expects|supports|tabelle|datenbank|ordner|verzeichnis|dienst|base de données|dossier|serveur|tabla|base de datos|carpeta|servicio|servidor|tabela|banco|pasta|serviço|tabella|cartella|servizio|ポート|データベース|テーブル|サーバー|フォルダ|ディレクトリ|エンドポイント|端口|数据库|表|服务器|目录|文件夹|接口|服务",
    ),
    (
        "STYLE",
        "comments|comment|docstring|docstrings|tabs|spaces|indentation|semicolons|quotes|naming|names|variables|variable|functions|function|types|type|imports|exports|class|classes|style|formatting|snake_case|camelcase|kebab-case|early returns|enum|enums|interfaces|constants|emoji|emojis|summary|summaries|answers|explanations|explanation|english|abbreviations|hooks|components|component|tests|error messages|errors|logging|logs|dependencies|library|libraries|kommentare|variablen|funktionen|englisch|deutsch|commentaires|fonctions|anglais|français|comentarios|funciones|inglés|español|comentários|funções|inglês|português|commenti|funzioni|inglese|italiano|コメント|変数|関数|英語|日本語|注释|变量|函数|命名|中文|英文|缩进",
    ),
    (
        "QTAG",
        "right|correct|ok|okay|got it|understood|clear|deal|isn't it|no|yeah|capisce|verstanden|klar|compris|entendido|entendeu|capito|わかった|明白|懂了|知道了",
    ),
];

/// Words that stay themselves as features; others become a mere shape.
const SMALL: &[PhraseLine] = &[(
    "SMALL",
    "a an the of in on at to for with by from as and or so than into out up off per via \
he she they them my me us its his her their there now just even about more most less many much some other \
same new old own like get got do does done doing has have will can may let need want think know work works \
looks look see said goes went come comes way thing things everything nothing lot bit kind please everything \
user users file files code line lines one two three both either neither after before while during since \
again too very really super pretty already soon later ever anymore",
)];

/// Name of a concept.
pub(super) type ConceptName = &'static str;

/// Index of all phrases: by first word, or by first character in scripts without spaces.
#[derive(Debug)]
pub(super) struct ConceptLexicon {
    by_word: PhraseTable<{ count(TABLE, b'|', PhraseKey::Word) }>,
    by_char: PhraseTable<{ count(TABLE, b'|', PhraseKey::Character) }>,
    small: PhraseTable<{ count(SMALL, b' ', PhraseKey::Word) }>,
}

/// The only instance, built at compile time.
pub(super) static LEXICON: ConceptLexicon = ConceptLexicon {
    by_word: PhraseTable::new(TABLE, b'|', PhraseKey::Word),
    by_char: PhraseTable::new(TABLE, b'|', PhraseKey::Character),
    small: PhraseTable::new(SMALL, b' ', PhraseKey::Word),
};

/// True for Chinese and Japanese characters: no spaces between words.
pub(super) const fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

impl ConceptLexicon {
    /// Finds the longest phrase that begins with the first of these words; returns its number of
    /// words and its concepts.
    pub(super) fn longest_phrase(&self, words: &[&str]) -> (usize, Vec<ConceptName>) {
        let Some(first) = words.first() else { return (0, Vec::new()) };
        let (mut longest, mut concepts) = (0, Vec::new());
        for (concept, phrase) in self.by_word.starting_like(first) {
            let count = phrase.split(' ').count();
            if !words.get(..count).is_some_and(|start| phrase.split(' ').eq(start.iter().copied()))
            {
                continue;
            }
            if count > longest {
                (longest, concepts) = (count, Vec::new());
            }
            if count == longest {
                concepts.push(concept);
            }
        }
        (longest, concepts)
    }

    /// Finds the longest phrase at the beginning of a text without spaces.
    pub(super) fn longest_unspaced_phrase(&self, text: &str) -> Option<(usize, ConceptName)> {
        let first = text.chars().next()?;
        let mut longest: Option<(usize, ConceptName)> = None;
        for (concept, phrase) in self.by_char.starting_like(&text[..first.len_utf8()]) {
            let length = phrase.len();
            if text.starts_with(phrase) && longest.is_none_or(|(most, _)| length > most) {
                longest = Some((length, concept));
            }
        }
        longest
    }

    pub(super) fn is_small(&self, word: &str) -> bool {
        self.small.starting_like(word).any(|(_, small)| small == word)
    }
}
