#include "support/written_secrets.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

/// "LINE KIND" of the first secret, or "none".
std::string first(const std::string& content, const std::string& name = "/etc/app.conf") {
    const std::vector<WrittenSecret> found = find_written_secrets(name, content);
    return found.empty()
               ? "none"
               : std::to_string(found.front().line) + " " + std::string(found.front().kind);
}

const std::string base64(200, 'Q');

std::string pem(const std::string& type, const std::string& content = base64) {
    return "-----BEGIN " + type + "-----\n" + content + "\n-----END " + type + "-----\n";
}

TEST(WrittenSecrets, PrivateKeys) {
    EXPECT_EQ(first("# a\n" + pem("PRIVATE KEY")), "2 a private key");
    EXPECT_EQ(first(pem("OPENSSH PRIVATE KEY")), "1 a private key");
    EXPECT_EQ(first(pem("RSA PRIVATE KEY",
                        "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n" + base64)),
              "1 a private key");
    EXPECT_EQ(first(pem("PGP PRIVATE KEY BLOCK", "Version: GnuPG v2\n\n" + base64)),
              "1 a private key");
    EXPECT_EQ(first("key: |\n  -----BEGIN EC PRIVATE KEY-----\n  " + base64), "2 a private key");
    EXPECT_EQ(first(R"({"private_key": "-----BEGIN PRIVATE KEY-----\n)" + base64 + R"(\n"})"),
              "1 a private key");
    EXPECT_EQ(
        first("users:\n- user:\n    client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"
              "Ck1JSURRakNDQWlxZ0F3SUJBZ0lJ\n    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSB"
              "LRVktLS0tLQpNSUlFb3dJQkFBS0NBUUVB\n"),
        "4 a private key");
    EXPECT_EQ(first("AGE-SECRET-KEY-1" + std::string(58, 'Q')), "1 a private key");
    EXPECT_EQ(first("[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\n"),
              "2 a password");
}

TEST(WrittenSecrets, WhatIsPublicIsNone) {
    for (const std::string& content :
         {pem("CERTIFICATE"), pem("PUBLIC KEY"), pem("PGP PUBLIC KEY BLOCK"),
          pem("TSS2 PRIVATE KEY"),
          std::string("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOLnNw5NA5MJilctpDqs5ON27MVyUp2mYVcM"),
          std::string("-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n"),
          std::string("grep -q -- '-----BEGIN PRIVATE KEY-----' \"$file\" && echo " + base64),
          std::string("root:$6$salt$" + base64 + ":19000:0:99999:7:::\n"),
          std::string("password_hash = $2y$10$" + base64),
          std::string("password = \"$6$rounds=5000$salt$abcdefghijklmnop\"\n")}) {
        EXPECT_EQ(first(content), "none") << content;
    }
}

TEST(WrittenSecrets, Tokens) {
    for (const std::string& token : {std::string("ghp_0123456789abcdefghijABCDEFGHIJ012345"),
                                     std::string("glpat-0123456789abcdefghij"),
                                     std::string("nvapi-0123456789abcdefghijABCDEFG"),
                                     std::string("hf_0123456789abcdefghijABCDEFGHIJklmn"),
                                     std::string("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0."
                                                 "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P")}) {
        EXPECT_EQ(first("# " + token), "1 an access token") << token;
        EXPECT_EQ(first("curl -H 'Authorization: Bearer " + token + "' https://x.invalid"),
                  "1 an access token")
            << token;
    }
    EXPECT_EQ(first("token: 9a08jv.c0izixklcxtmnze7"), "1 an access token");
    EXPECT_EQ(first("aws_secret_access_key = q8Jh3kLmN0pQrStUvWxYz1234567890AbCdEfGhI"),
              "1 a password");
    EXPECT_EQ(first("token: my-token\nsecret: app-credentials\nsecretName: x0123456789abcdef01\n"),
              "none");
}

/// By the name of their file, whatever is in it; without that by their form.
TEST(WrittenSecrets, TokensOfNvidiasLicenceServer) {
    const std::string jwt =
        "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ==.eyJqdGkiOiI4ZWM5YyIsImV4cCI6MTk3NH0=."
        "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";
    const std::string usual = "client_configuration_token_04-08-2022-15-02-50.tok";
    const std::string kind = "1 a client's token of NVIDIA's licence server";
    EXPECT_EQ(first(jwt), "1 an access token");
    EXPECT_EQ(first("# moved\n" + jwt + "\n", "/etc/a.conf"), "2 an access token");
    EXPECT_EQ(first(jwt, "/etc/nvidia/ClientConfigToken/" + usual), kind);
    EXPECT_EQ(first(jwt, "/usr/share/" + usual), kind);
    EXPECT_EQ(first("another form", "/usr/share/" + usual), kind);
    EXPECT_EQ(first(std::string("\0\1", 2), usual), kind);
    EXPECT_EQ(first("another form", "/etc/nvidia/ClientConfigToken/site.tok"), kind);
    EXPECT_EQ(first("another form", "client_configuration_token.tok"), kind);
    EXPECT_EQ(first("\n", usual), "none");
    EXPECT_EQ(first("another form", "/usr/share/grammar.tok"), "none");
    EXPECT_EQ(first("Tokens go here.", "/etc/nvidia/ClientConfigToken/README"), "none");
}

TEST(WrittenSecrets, PasswordsOfSettings) {
    for (const std::string& line :
         {std::string("password=hunter2"), std::string("db.password: hunter2"),
          std::string("\"password\": \"hunter2\""), std::string("export DB_PASSWORD='hunter2'"),
          std::string("Environment=DB_PASSWORD=hunter2"), std::string("psk=sea4711 is near"),
          std::string("wep-key0=0123456789"),
          std::string("ExecStart=/usr/bin/x --password hunter2"),
          std::string("curl -u joe:hunter2 https://x.invalid"),
          std::string("echo 'root:hunter2' | chpasswd"),
          std::string("proxy = http://joe:hunter2@proxy.invalid:3128"),
          std::string("rd.iscsi.password=hunter2"), std::string("host_config_key=0a1b2c3d"),
          std::string("ldap_default_authtok = x0123456789abcdef"),
          std::string("machine x login y password hunter2")}) {
        EXPECT_NE(first("\n" + line + "\n"), "none") << line;
        EXPECT_EQ(first("\n" + line + "\n").substr(0, 2), "2 ") << line;
    }
    EXPECT_EQ(first("- name: APP_PASSWORD\n  value: hunter2\n"), "2 a password");
}

/// A password may begin with any character, and a passphrase has blanks.
TEST(WrittenSecrets, PasswordsOfOtherForms) {
    for (const char* line :
         {"password=!hunter2", "password = !hunter2", "password=&hunter2", "psk=#hunter2",
          "password=~hunter2", "password: ~hunter2", "password=*hunter2", "password = \"!hunter2\"",
          "password: '&hunter2'", "\"password\": \"#hunter2\"", "DB_PASSWORD='~hunter2'",
          "password: \"*hunter2\"", "password: &anchor hunter2", "x --password '!hunter2'",
          "x --password !hunter2", "password = \"correct horse battery staple\"",
          "\"passphrase\": \"Tr0ub4dor and 3 friends\"", "export DB_PASSWORD='my h0use is red'",
          "psk=\"sea4711 is near\""}) {
        EXPECT_EQ(first(line), "1 a password") << line;
    }
}

/// `--` begins a comment in SQL and Lua alone, and '*' only inside a comment of C.
TEST(WrittenSecrets, LinesThatOnlyLookLikeComments) {
    EXPECT_EQ(first("/usr/bin/x \\\n    --password hunter2\n"), "2 a password");
    EXPECT_EQ(first("ExecStart=/usr/bin/x \\\n  --db-password=hunter2 \\\n  --quiet\n"),
              "2 a password");
    EXPECT_EQ(first("--password hunter2\n"), "1 a password");
    EXPECT_EQ(first("* * * * * root x --password hunter2\n", "/etc/cron.d/x"), "1 a password");
    EXPECT_EQ(first("/* a\n * password=hunter2\n */\n"), "none");
    EXPECT_EQ(first("/* a */\n * password=hunter2\n"), "2 a password");
    EXPECT_EQ(first("-- password=hunter2\n", "/usr/share/x/schema.sql"), "none");
    EXPECT_EQ(first("-- password=hunter2\n", "/usr/share/x/a.lua"), "none");
    EXPECT_EQ(first("password=hunter2\n", "/usr/share/x/schema.sql"), "1 a password");
}

TEST(WrittenSecrets, WhatStandsForAPasswordIsNone) {
    for (const char* line : {"password=",
                             "password=\"\"",
                             "password=$1",
                             "password=\"${PASSWORD}\"",
                             "password: {{ password }}",
                             "password = <your password>",
                             "password=changeme",
                             "password: /run/secrets/password",
                             "password-file=/etc/x",
                             "password_file: hunter2",
                             "password-flags=1",
                             "password: string",
                             "# password=hunter2",
                             "; password=hunter2",
                             "// password: hunter2",
                             "password: \"The password of the user\"",
                             "password    sufficient    pam_unix.so sha512",
                             "passwd:     files sss systemd",
                             "passwd: files",
                             "PasswordAuthentication no",
                             "private-key=/etc/pki/x.key",
                             "private_key: tls.key",
                             "password = get_password()",
                             "if password == expected",
                             "IEEE_8021X_PRIVATE_KEY=test1_key_and_cert.pem",
                             "password = input.password",
                             "https://x.invalid/?user:pass@host",
                             "http://user:password@proxy.invalid",
                             "http://${USER}:${PASS}@proxy.invalid",
                             "max_password: 90",
                             "existingSecret: my-secret",
                             "imagePullSecrets:",
                             "password_pbkdf2 root grub.pbkdf2.sha512.10000.ABCDEF",
                             "psk: null",
                             "token: ${TOKEN:-0123456789abcdef0123}",
                             "--no-ask-password daemon-reload",
                             "password: !vault |",
                             "password: !secret wifi_password",
                             "password: *anchor",
                             "password: &anchor",
                             "password: ~",
                             "password = ~/.config/x",
                             "password: # set on the device",
                             "password = # hunter2",
                             "password=#{password}",
                             "\"password\": \"**********\"",
                             "password=*",
                             "password=*.pem",
                             "<password>&quot;x&quot;</password>",
                             "password=&quot;x&quot;",
                             "https://x.invalid/?password=&user=hunter2",
                             "x --password && true",
                             "x --password &",
                             "x --password # from the terminal",
                             "password = !read_only;",
                             "password = \"Enter the new password\"",
                             "\"password\": \"At least 8 characters\"",
                             "password=\"not set\"",
                             "\"password\": \"Mot de passe\""}) {
        EXPECT_EQ(first(line), "none") << line;
    }
    EXPECT_EQ(first("password:\n  type: string\n"), "none");
    EXPECT_EQ(first("password = 'hunter2'\n", "/usr/share/doc/x.md"), "none");
    EXPECT_EQ(first("password = 'hunter2'\n", "/usr/lib/x.py"), "none");
    EXPECT_EQ(first("#!/usr/bin/python3\npassword = 'hunter2'\n", "/usr/bin/x"), "none");
    EXPECT_EQ(first("#!/bin/sh\npassword='hunter2'\n", "/usr/bin/x"), "2 a password");
}

TEST(WrittenSecrets, FilesOfPasswords) {
    EXPECT_EQ(first("# host\nx.invalid:5432:db:joe:hunter2\n", "/etc/skel/.pgpass"), "2 passwords");
    EXPECT_EQ(first("machine x.invalid\nlogin joe\npassword hunter2\n", "/etc/skel/.netrc"),
              "3 a password");
    EXPECT_EQ(first("password required pam_deny.so\npassword include system-auth\n"), "none");
    EXPECT_EQ(first("joe * hunter2 *\n", "/etc/ppp/chap-secrets"), "1 passwords");
    EXPECT_EQ(first("# none yet\n", "/etc/ppp/chap-secrets"), "none");
    EXPECT_EQ(first(": PSK \"hunter2hunter2\"\n", "/etc/ipsec.d/x.secrets"), "1 a password");
}

TEST(WrittenSecrets, LoginsAtRegistries) {
    // joe:hunter2, and user:password as in examples
    EXPECT_EQ(first("{\n\"auths\": {\n\"quay.io\": { \"auth\" : \"am9lOmh1bnRlcjI=\" }}}\n",
                    "/etc/crio/openshift-pull-secret"),
              "3 a login at a registry");
    EXPECT_EQ(first(R"({"auths": {"quay.io": {"auth": ""}}})"), "none");
    EXPECT_EQ(first(R"({"auths": {"quay.io": {"auth": "dXNlcjpwYXNzd29yZA=="}}})"), "none");
    EXPECT_EQ(first(R"({"auth": "required", "other": {"auth": "oauth2"}})"), "none");
    EXPECT_EQ(first(".dockerconfigjson: eyJhdXRocyI6eyJxdWF5LmlvIjp7ImF1dGgiOiJhbTlsIn19fQ=="),
              "1 a login at a registry");
}

TEST(WrittenSecrets, BinaryFiles) {
    const test::TemporaryDirectory directory;
    const std::string der = (directory.path() / "key.der").string();
    test::run({"openssl", "genpkey", "-algorithm", "ed25519", "-outform", "DER", "-out", der});
    EXPECT_EQ(first(read_file(der), "/etc/pki/x.der"), "0 a private key");
    EXPECT_EQ(first(std::string("\x05\x02\0\0\0\x30hunter2hunter2", 20), "/etc/krb5.keytab"),
              "0 a private key");
    EXPECT_EQ(first(std::string("password=hunter2\n\0\0", 19), "/usr/bin/x"), "none");
    EXPECT_EQ(first(std::string("0\x82\x01\x02not a key", 13), "/etc/pki/x.der"), "none");
}

TEST(WrittenSecrets, HostileTextTakesNoLonger) {
    for (const char* const part :
         {"a", "password", "-----BEGIN PRIVATE KEY-----", "://:", "\"auth\":\"", "curl -u ", " "}) {
        std::string text;
        while (text.size() < (2U << 20U)) {
            text += part;
        }
        EXPECT_NO_THROW(static_cast<void>(find_written_secrets("/etc/x", text))) << part;
    }
}

}  // namespace
}  // namespace edgegpu
