//! What stands around a statement and is no part of it.

/// What a sentence may begin with before it comes to the point.
pub(super) const OPENERS: &[&str] = &[
    "no problem but", "ok but", "okay but", "ok so", "okay so", "ok", "okay", "alright", "hey", "hi", "hello", "oh", "ah", "argh", "ugh", "well", "wait", "hmm", "hm", "yes", "yeah", "yep", "sure", "nice", "great", "perfect", "cool", "thanks", "thank you", "thx", "lol", "dude", "man", "sorry", "actually", "btw", "by the way", "fyi", "jfyi", "psa", "also", "and also", "and", "but", "so", "plus", "oh and", "one more thing", "another thing", "one thing", "quick note", "quick thing", "small thing", "note", "note that", "please note that", "please note", "important", "reminder", "heads up", "heads-up", "remember that", "remember to", "remember", "keep in mind that", "keep in mind", "bear in mind that", "bear in mind", "for the record", "for future reference", "for the future", "for next time", "next time", "in future", "in the future", "from now on", "from here on out", "from here on", "from this point on", "going forward", "moving forward", "henceforth", "starting now", "starting today", "as of now", "as of today", "as a rule", "as a general rule", "general rule", "rule", "hard rule", "house rule", "as i said", "like i said", "i said", "as i mentioned", "i told you already", "i already told you", "i told you", "i've told you", "once again", "again", "for the last time", "seriously", "honestly", "come on", "damn it", "dammit", "ffs", "wtf", "jesus", "god", "nope", "nah", "wrong", "that's wrong", "thats wrong", "that's not right", "incorrect", "not like that", "please", "pls", "plz", "kindly", "just", "just so you know", "so you know", "you know", "don't forget that", "don't forget", "dont forget", "make sure you", "make sure to", "make sure that", "make sure", "be sure to", "i want you to always", "i want you to", "i'd like you to", "i would like you to", "i need you to", "i'd prefer that you", "i'd prefer if you", "i'd prefer you", "i would prefer if you", "i would prefer you", "you should", "you must", "you need to", "you have to", "you can", "you gotta", "you are supposed to", "you're supposed to", "we've been over this", "this is important", "can we agree to", "let's agree to", "in all my projects", "in all my repos", "across all my projects", "in every project", "in every repo", "in general", "generally", "everywhere", "for all my projects", "whatever the repo", "no matter the project", "no matter the repo", "no matter the language", "no matter which project",
    // German
    "nein", "nee", "nö", "bitte", "ab jetzt", "ab sofort", "von jetzt an", "künftig", "in zukunft", "zukünftig", "ab heute", "übrigens", "zur info", "merk dir", "merke dir", "denk daran", "denk dran", "nicht vergessen", "also gut", "wie gesagt", "achtung", "wichtig", "hinweis", "in allen meinen projekten", "danke", "und", "aber", "du sollst", "du musst",
    // French
    "désormais", "dorénavant", "à partir de maintenant", "à l'avenir", "s'il te plaît", "s'il vous plaît", "stp", "svp", "au fait", "pour info", "n'oublie pas que", "n'oublie pas", "rappelle-toi que", "retiens que", "merci", "et", "mais", "dans tous mes projets", "tu dois", "il faut que tu", "attention",
    // Spanish
    "por favor", "porfa", "a partir de ahora", "de ahora en adelante", "en adelante", "de hoy en adelante", "por cierto", "recuerda que", "recuerda", "ten en cuenta que", "acuérdate de que", "gracias", "pero", "en todos mis proyectos", "tienes que", "debes", "ojo", "oye", "para que sepas",
    // Portuguese
    "a partir de agora", "de agora em diante", "daqui pra frente", "daqui para frente", "a propósito", "lembre-se de que", "lembre-se que", "lembre-se", "lembra que", "lembre", "obrigado", "valeu", "mas", "em todos os meus projetos", "você deve", "você tem que", "cara",
    // Italian
    "d'ora in poi", "da ora in poi", "d'ora in avanti", "in futuro", "per favore", "ricordati che", "ricorda che", "ricordati di", "ricorda", "tieni presente che", "comunque", "grazie", "ma", "in tutti i miei progetti", "devi", "attenzione", "guarda che",
    // Japanese and Chinese
    "今後は", "今後", "これからは", "これから", "ちなみに", "いや", "いいえ", "違います", "違う", "请记住", "记住", "请注意", "注意", "请", "以后", "从现在开始", "从现在起", "今后", "往后", "顺便说一下", "顺便", "对了", "不对", "错了", "不是这样", "另外", "所有项目", "我说过", "我说过了", "都说了",
];

/// A beginning that speaks of the two of us, and what is said instead.
pub(super) const TURNED: &[(&str, &str)] = &[
    ("i don't want you to ever", "don't"),
    ("i don't ever want you to", "don't"),
    ("i don't want you to", "don't"),
    ("i dont want you to", "don't"),
    ("i do not want you to", "don't"),
    ("i never want you to", "never"),
    ("i never want to see", "never use"),
    ("i don't want to see", "no"),
    ("i dont want to see", "no"),
    ("i don't want any", "no"),
    ("i dont want any", "no"),
    ("i don't want", "no"),
    ("i dont want", "no"),
    ("i don't like", "avoid"),
    ("i dont like", "avoid"),
    ("i really don't like", "avoid"),
    ("i dislike", "avoid"),
    ("i really hate", "avoid"),
    ("i hate", "avoid"),
    ("i can't stand", "avoid"),
    ("i cant stand", "avoid"),
    ("i strongly prefer", "prefer"),
    ("i generally prefer", "prefer"),
    ("i usually prefer", "prefer"),
    ("i always prefer", "prefer"),
    ("i really prefer", "prefer"),
    ("i much prefer", "prefer"),
    ("i prefer that you", "prefer to"),
    ("i prefer", "prefer"),
    ("i'd prefer", "prefer"),
    ("id prefer", "prefer"),
    ("i would prefer", "prefer"),
    ("i'd rather have", "prefer"),
    ("i'd rather you didn't", "don't"),
    ("i'd rather you", "rather"),
    ("i like my", "prefer"),
    ("i like", "prefer"),
    ("i love", "prefer"),
    ("i want all", "all"),
    ("i want every", "every"),
    ("i want", "want"),
    ("i always want", "always want"),
    ("i always use", "always use"),
    ("i always", "always"),
    ("i never use", "never use"),
    ("i never", "never"),
    ("i use", "use"),
    ("i only use", "only use"),
    ("i need", "need"),
    ("i expect", "expect"),
    ("i work", "work"),
    ("i'm using", "use"),
    ("you shouldn't ever", "don't"),
    ("you should never", "never"),
    ("you must never", "never"),
    ("you should not", "don't"),
    ("you shouldn't", "don't"),
    ("you shouldnt", "don't"),
    ("you must not", "don't"),
    ("you mustn't", "don't"),
    ("you may not", "don't"),
    ("you can't", "don't"),
    ("you cannot", "don't"),
    ("you cant", "don't"),
    ("you don't need to", "don't"),
    ("you dont need to", "don't"),
    ("you don't have to", "don't"),
    ("you are not allowed to", "don't"),
    ("you're not allowed to", "don't"),
    ("you never", "never"),
    ("you always", "always"),
    ("ich will nicht, dass du", "nicht"),
    ("ich bevorzuge", "bevorzuge"),
    ("ich möchte", "möchte"),
    ("je préfère", "préfère"),
    ("prefiero", "prefiero"),
];

/// What may stand at the end.
pub(super) const CLOSERS: &[&str] = &[
    "please", "pls", "plz", "thanks", "thank you", "thx", "ok", "okay", "ever", "got it", "understood", "from now on", "going forward", "moving forward", "in future", "in the future", "bitte", "ab jetzt", "ab sofort", "künftig", "in zukunft", "merci", "stp", "svp", "s'il te plaît", "s'il vous plaît", "désormais", "dorénavant", "por favor", "porfa", "gracias", "a partir de ahora", "de ahora en adelante", "a partir de agora", "de agora em diante", "daqui pra frente", "obrigado", "per favore", "grazie", "d'ora in poi", "danke", "alright", "lol", "man", "dude", "for god's sake", "ffs", "btw", "fyi", "谢谢",
];

/// Behind these a bare "no" is an answer and not a part of the sentence.
pub(super) const AFTER_NO: &[&str] = &[
    "no", "we", "we're", "i", "you", "the", "this", "that", "it", "it's", "its", "that's", "thats", "don't", "dont", "do", "never", "always", "use", "put", "keep", "stop", "please", "not", "they", "our", "in", "only", "write", "wir", "das", "nicht", "bitte", "on", "utilise", "usa", "usamos", "nunca", "siempre", "sempre", "así", "aquí", "aqui", "isso", "qui", "si", "wrong", "nope",
];
