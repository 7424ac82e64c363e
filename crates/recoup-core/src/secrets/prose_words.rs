//! Words with which people give a password, in the languages that they write to an agent in:
//! English, German, French, Spanish, Portuguese, Italian, Chinese and Japanese. In lower case.

/// Names of passwords, whose value may be a plain word.
pub(super) const PASSWORDS: &str = "password passwd passphrase passcode pwd pw pass passwort kennwort \
codewort contraseña contrasena senha mdp passe parola clave mot-de-passe pswd";
/// Names of generated credentials: the value must look like one.
pub(super) const TOKENS: &str = "token secret key schlüssel apikey api-key jeton clé cle chave chiave \
segreto credential psk";
/// Names of numbers that open something.
pub(super) const CODES: &str = "pin puk";
/// First words of names whose second word is `code`.
pub(super) const OPENS: &str = "door access entry gate alarm security unlock lock garage safe pin recovery \
backup recovery-";

/// Words and signs that link a name with its value.
pub(super) const IS: &str = "is are was ist lautet lauten sind war est sont es son era é è e sono \
sera será foi - – = : ： := -> → は 是 为 為";
/// Words that link a change with its result.
pub(super) const TO: &str =
    "to auf into as als comme como come in zu à a en usa use usar utilise nimm";
/// Words between either link and the value.
pub(super) const STILL: &str = "just simply still now currently always set changed reset updated to nun jetzt \
einfach aktuell immer momentan noch toujours maintenant siempre ahora sempre agora ora adesso literally actually";
/// Words that announce a value right behind its name.
pub(super) const WITH: &str = "with use using as mit avec con com utilise usa nimm via";
/// Names of the user beside whom a password stands.
pub(super) const USER_NAMES: &str = "user username login benutzer benutzername nutzer utilisateur identifiant \
usuario usuário utente account konto compte cuenta conta";
/// Words that may follow a value that is a plain word.
pub(super) const AFTER: &str = "and but for on in at please und aber fur für auf et pour y para e per ok okay \
btw by so then remember everywhere here there";

/// Words that describe a password without giving it.
pub(super) const STATES: &str = "used yes true false ja nein si oui in from under at on by via inside within wrong invalid \
incorrect missing empty required optional plaintext plain unset undefined null none nil broken fine ok okay good bad \
weak strong public private random here there below above unknown mandatory sensitive hidden unused gone not never \
always only also too the a an our your my his her their its this that these those what which where how whatever \
case-sensitive same different identical correct right valid long short set read kept stored known common default easy \
hard safe secure insecure no case min max blank being both either equal just more less longer shorter older newer \
visible present absent reset sent shown given taken written hash hashes bcrypt argon2 text string bytes base64 \
falsch leer gesetzt notig nötig erforderlich pflicht gehasht im in aus unter am nicht das der die ein eine hier dort \
gleich abgelaufen vergessen gesperrt bekannt geheim sicher unsicher zu \
dans faux vide requis obligatoire stocke stocké pas le la un une sous chez en incorrect hache haché expire expiré \
trop oublie oublié \
incorrecta vacia vacía obligatoria requerida el una del no caducada expirada muy \
errada incorreta vazia obrigatoria obrigatória guardada o a um uma no na nao não expirada muito \
sbagliata vuota obbligatoria salvata il una nel nella non scaduta troppo";

/// Second words that make something else of a name: a password hash.
pub(super) const COMPOUNDS: &str = "hash hashes hashing auth authentication manager managers prompt prompts field \
fields reset resets login protection policy policies grant input inputs less form forms validation rules rule length \
strength check checks page screen file files store storage rotation change changes column based id ids name names type types \
header headers expired expires scopes scope";

/// Words for logging in.
pub(super) const LOGIN: &str = "login signin log sign logon anmelden einloggen anmelde logge connecte connectez \
connexion connecter inicia sesión sesion entra entre acesse accedi credentials creds zugangsdaten zugang identifiants \
credenciales credenziali credenciais";
/// Words about logging in that are no secret.
pub(super) const KINDS: &str = "google github gitlab facebook apple microsoft okta sso oauth saml email password \
username phone passkey user name mail ldap e-mail token";
/// Words before a name that follows its value: "use X as the password".
pub(super) const ARTICLES: &str = "the a my our your das der die den mein unser le la mon notre el mi il o new neue \
nuevo nuova nova admin root db";
pub(super) const USERS: &str = "admin root test guest user demo postgres";

/// Names in runs of characters without blanks.
pub(super) const RUN_NAMES: &[&str] = &[
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "暗証番号",
    "密钥",
    "密鑰",
    "令牌",
    "トークン",
    "鍵",
    "キー",
];
pub(super) const RUN_IS: &[&str] =
    &["是", "为", "為", "は", "改成", "改为", "換成", "换成", "：", ":", "=", "＝"];
/// Words for the place or state of a password, in scripts without blanks.
pub(super) const RUN_STATES: &[&str] = &[
    "在",
    "从",
    "存",
    "放",
    "必",
    "需",
    "不",
    "加密",
    "哈希",
    "错",
    "正确",
    "过期",
    "空",
    "强",
    "弱",
    "环境",
    "一样",
    "什么",
    "多少",
    "我们",
    "应",
    "明文",
    "に",
    "から",
    "で",
    "を",
    "ハッシュ",
    "暗号",
    "変更",
    "違",
    "忘",
    "何",
    "正しい",
    "请",
    "無",
    "无",
    "有",
    "已",
    "長",
    "长",
    "必要",
    "ください",
    "至少",
    "以上",
];

/// True if `word` is one of the words of `list`, without regard to the case of ASCII letters.
pub(super) fn list_contains(list: &str, word: &[u8]) -> bool {
    list.split_ascii_whitespace().any(|it| it.as_bytes().eq_ignore_ascii_case(word))
}
