//! The table of credential slots: programs that take a password on the command line, and its place
//! there. A program's name is its literal; one of a few letters includes its blank.

use crate::secrets::rules::SecretRule;
use crate::secrets::slot::SlotForm::{Login, Scheme};
use crate::secrets::slot::SlotPlace::{Argument, Each, Flag, Joined, LastIf, Named, Next, Piped};
use crate::secrets::slot::{self, CredentialSlot as Slot};

const PASSWORD: Slot = Slot::whole(Flag(&["-p", "--password", "--pass"]));
const CAPITAL_PASSWORD: Slot = Slot::whole(Flag(&["-P"]));

pub(super) const RULES: &[SecretRule] = &[
    SecretRule::slots(
        "mysql-password",
        &[
            "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck",
            "mariadb", "mariadb-dump", "mycli",
        ],
        &[Slot::whole(Joined("-p"))],
        ["mysql -h db -u root -p{l8} shop", "mysql -u root -p shop"],
    ),
    SecretRule::slots(
        "sshpass-password",
        &["sshpass"],
        &[PASSWORD],
        ["sshpass -p '{l8}' ssh host", "sshpass -p \"$PW\" ssh host"],
    ),
    SecretRule::slots(
        "login-password",
        &[
            "docker login", "podman login", "nerdctl login", "buildah login", "skopeo login",
            "oras login", "az login", "az acr login", "cf login", "oc login", "kubelogin",
            "twine upload", "ibmcloud login", "rabbitmqadmin", "vncviewer", "evil-winrm", "wmic",
            "cqlsh", "mongosh", "mongo ", "mongodump", "mongorestore", "mongoexport",
            "mongoimport", "influx ", "rdesktop", "ncftpput", "ncftpget", "ncftp ", "snowsql",
            "vsql ", "nxc ", "hydra ", "kafkacat", "tsh login", "bw unlock", "bw login",
        ],
        &[PASSWORD],
        ["docker login r.io -u ci -p {l8}", "docker run -p 8080:80 nginx"],
    ),
    SecretRule::slots(
        "capital-password",
        &[
            "sqlcmd", "bcp ", "osql ", "tsql ", "ipmitool", "mosquitto_pub", "mosquitto_sub",
            "zip ", "unzip ", "ssh-keygen", "zipcloak", "bsqldb", "isql ",
        ],
        &[CAPITAL_PASSWORD, Slot::whole(Flag(&["-pw", "-N"]))],
        ["sqlcmd -S db -U sa -P '{l8}'", "zip -r out.zip src"],
    ),
    SecretRule::slots(
        "putty-password",
        &["plink", "pscp", "psftp", "putty"],
        &[Slot::whole(Flag(&["-pw"]))],
        ["plink -ssh -pw {l8} root@host", "plink -ssh -P 22 root@host"],
    ),
    SecretRule::slots(
        "archive-password",
        &["7z ", "7za ", "7zz ", "unrar "],
        &[Slot::whole(Joined("-hp")), Slot::whole(Joined("-p"))],
        ["7z a -p{l8} out.7z src/", "7z a -mx9 out.7z src/"],
    ),
    SecretRule::slots(
        "redis-password",
        &["redis-cli", "keydb-cli", "redis-benchmark"],
        &[Slot::whole(Flag(&["-a", "--pass"]))],
        ["redis-cli -h cache -a {l8} ping", "redis-cli -h cache --askpass ping"],
    ),
    SecretRule::slots(
        "http-user-password",
        &["curl"],
        &[
            Slot::behind(b':', Flag(&["-u", "--user", "-U", "--proxy-user"])),
            Slot::whole(Flag(&["--oauth2-bearer"])),
        ],
        ["curl -s -u admin:{l8} https://host/", "curl -u user:$PASSWORD https://host/"],
    ),
    SecretRule::slots(
        "user-password-pair",
        &["skopeo", "http ", "https ", "xh ", "xhs "],
        &[Slot::behind(
            b':',
            Flag(&["-a", "--auth", "-A", "--creds", "--src-creds", "--dest-creds", "--user"]),
        )],
        ["skopeo copy --src-creds admin:{l8} docker://x dir:y", "skopeo copy docker://x dir:y"],
    ),
    SecretRule::slots(
        "samba-password",
        &["smbclient", "rpcclient", "smbget", "smbmap", "smbcacls", "wmiexec"],
        &[Slot::behind(b'%', Flag(&["-U", "--user"])), PASSWORD],
        ["smbclient //fs/share -U 'CORP\\ada%{l8}'", "smbclient //fs/share -U ada"],
    ),
    SecretRule::slots(
        "lftp-password",
        &["lftp"],
        &[Slot::behind(b',', Flag(&["-u", "--user"]))],
        ["lftp -u web,{l8} ftp.host", "lftp -u web ftp.host"],
    ),
    SecretRule::slots(
        "ldap-password",
        &[
            "ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami",
            "ldapcompare",
        ],
        &[Slot::whole(Flag(&["-w", "-s", "-a"]))],
        ["ldapwhoami -x -D cn=admin -w {l8}", "ldapwhoami -x -D cn=admin -W"],
    ),
    SecretRule::slots(
        "oracle-login",
        &["sqlplus", "sqlldr", "sqlcl"],
        &[Slot { place: Argument(0), form: Login }],
        ["sqlplus system/{l8}@//ora:1521/PDB", "sqlplus / as sysdba"],
    ),
    SecretRule::slots(
        "openssl-password",
        &["openssl"],
        &[
            Slot {
                place: Flag(&["-passin", "-passout", "-pass", "-password"]),
                form: Scheme("pass:"),
            },
            Slot::whole(Next(&["-k"])),
        ],
        ["openssl rsa -in k.pem -passin pass:{l8}", "openssl rsa -in k.pem -passin env:PW"],
    ),
    SecretRule::slots(
        "passphrase",
        &["gpg ", "gpg2 ", "gpg-preset-passphrase", "cryptsetup"],
        &[Slot::whole(Flag(&["--passphrase", "-P"]))],
        ["gpg --batch --passphrase {l8} -c f", "gpg --batch --passphrase-file f -c g"],
    ),
    SecretRule::slots(
        "htpasswd-password",
        &["htpasswd"],
        &[Slot::whole(LastIf(b'b'))],
        ["htpasswd -cb /etc/.htpasswd ada {l8}", "htpasswd -c /etc/.htpasswd ada"],
    ),
    SecretRule::slots(
        "remote-desktop-password",
        &["xfreerdp", "wfreerdp", "sdl-freerdp", "freerdp", "mstsc"],
        &[Slot::whole(Flag(&["/p:", "/password:", "-p"]))],
        ["xfreerdp /v:host /u:ada /p:'{l8}'", "xfreerdp /v:host /u:ada"],
    ),
    SecretRule::code(
        "windows-share-password",
        &[" /user:"],
        slot::find_share,
        ["net use Z: \\\\fs\\share {l8} /user:ada", "net use Z: \\\\fs\\share /user:ada *"],
    ),
    SecretRule::slots(
        "snmp-password",
        &["snmpwalk", "snmpget", "snmpset", "snmpbulkwalk", "snmptrap", "snmpgetnext", "snmptable"],
        &[Slot::whole(Flag(&["-A", "-X", "-c"]))],
        ["snmpwalk -v3 -u mon -a SHA -A {l8} host", "snmpwalk -v2c -c public host"],
    ),
    SecretRule::slots(
        "java-keystore-password",
        &["keytool", "apksigner"],
        &[
            Slot::whole(Flag(&[
                "-storepass", "-keypass", "-srcstorepass", "-deststorepass", "-destkeypass",
                "-srckeypass", "-new",
            ])),
            Slot { place: Flag(&["--ks-pass", "--key-pass"]), form: Scheme("pass:") },
        ],
        ["keytool -list -keystore k.jks -storepass {l8}", "keytool -list -keystore k.jks"],
    ),
    SecretRule::slots(
        "set-secret",
        &["gh secret set", "gh variable set", "glab variable set"],
        &[Slot::whole(Flag(&["-b", "--body", "-v", "--value"]))],
        ["gh secret set DEPLOY_PW -b \"{l8}\"", "gh secret set DEPLOY_PW < pw.txt"],
    ),
    SecretRule::slots(
        "set-credential",
        &[
            "aws configure set aws_secret_access_key", "aws configure set aws_session_token",
            "vault login", "wandb login", "rootpw", "snyk auth", "railway login",
        ],
        &[Slot::whole(Argument(0))],
        ["aws configure set aws_secret_access_key {a12}", "vault login -method=oidc"],
    ),
    SecretRule::slots(
        "wireless-password",
        &["wpa_passphrase", "mysqladmin password"],
        &[Slot::whole(Argument(1))],
        ["wpa_passphrase workshop {l8}", "wpa_passphrase workshop"],
    ),
    SecretRule::slots(
        "object-store-password",
        &["mc alias set", "mc config host add"],
        &[Slot::whole(Argument(3))],
        ["mc alias set minio http://h:9000 admin {l8}", "mc alias set minio http://h:9000"],
    ),
    SecretRule::slots(
        "vault-value",
        &["vault kv put", "vault kv patch"],
        &[Slot::behind(b'=', Each)],
        ["vault kv put kv/shop dsn={l8}", "vault kv put kv/shop @values.json"],
    ),
    SecretRule::slots(
        "git-password",
        &["git config"],
        &[Slot::whole(Named)],
        ["git config sendemail.smtppass {l8}", "git config user.signingkey 3AA5C34371567BD2"],
    ),
    SecretRule::pattern(
        "windows-user-password",
        &["net user "],
        r#"(?i)net user [^\s/]{1,64} ['"]?([^\s/*<$\['"][^\s'"]{2,120})['"]? +/[a-z]"#,
        ["net user ada {l8} /add", "net user ada * /add"],
    ),
    SecretRule::slots(
        "piped-password",
        &[
            "sudo -s", "docker login", "podman login", "passwd --stdin", "--password-stdin",
            "--with-token", "smbpasswd", "--passphrase-fd 0", "cryptsetup", "--stdin-pass",
        ],
        &[Slot::whole(Piped)],
        ["echo '{l8}' | sudo -S apt-get update", "sudo -s whoami"],
    ),
    SecretRule::slots(
        "piped-user-password",
        &["chpasswd"],
        &[Slot::behind(b':', Piped)],
        ["echo \"root:{l8}\" | sudo chpasswd", "sudo chpasswd < users.txt"],
    ),
    SecretRule::code(
        "flag-beside-user",
        &[" -p ", " -w ", " -pw "],
        slot::find_beside_user,
        ["dbtool -u ada -p Tr0ub{a6}3x list", "docker run -u 1000 -p 8080:80 nginx"],
    ),
];
