#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "blueprint/tables/password_hash.hpp"
#include "blueprint/tables/ssh_key.hpp"

namespace edgegpu {

namespace {

const std::string rsa =
    "AAAAB3NzaC1yc2EAAAADAQABAAABAQCxq4Spz8nt3pb245ZCWfUzt0yGh2f6CrbBAfrLQaIlUjg+"
    "Ogl6guTB0XcycnIASUe97zg8+6/PZn0vW6m2OPF8ISOtM8B27KqmFfe3slIoa3xFz9dssnI80zEthANP2Upim+FVYJe/"
    "tdMjhnavrAu/YhojPa3m/AcE25tF9NI+Rv4JXaiHxrxV/QhuR+aQ2udFGpORsD/"
    "H1xTjfYH7vy1vnMjhvjyOeVsMjc8LxEPMCGz/Fuy8ivBroK7x0A/"
    "zfH4hwu29tdk94dDZUh0UVJ97Uq5z+vczWKO01f0rO+iHk440mdpQoG2M2DtOKYYOb7zPQ2w5Pq86/LudPAeKA8V5";
const std::string short_rsa =
    "AAAAB3NzaC1yc2EAAAADAQABAAAAQQDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM"
    "DAwMDAwMDAwMDAwMDAwMDA";
const std::string ecdsa =
    "AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBAsgItaxDTIR1ik2b1yt9UPkmjouh+"
    "R5WwTsIQiQ3Fnwht+pT+9C9mCdalCsw3Yd6s4Zl5rTKHBCCkcIZCmyTE/51bcAMAkHhowzgQYE/"
    "ysngw2RXxtPYhHXq2Iqx12N3g==";
const std::string ed25519 = "AAAAC3NzaC1lZDI1NTE5AAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB";

std::string reason(const std::string& line) {
    return ssh_key_fault(line).reason;
}

}  // namespace

TEST(SshKey, WhatSshKeygenWritesIsRight) {
    EXPECT_EQ(reason("ssh-rsa " + rsa + " a@example.invalid"), "");
    EXPECT_EQ(reason("  ecdsa-sha2-nistp384\t" + ecdsa), "");
    EXPECT_EQ(reason("ssh-ed25519 " + ed25519 + " a comment of words"), "");
    EXPECT_EQ(reason(""), "");
    EXPECT_EQ(reason("# a comment"), "");
}

TEST(SshKey, OptionsMayStandBeforeIt) {
    EXPECT_EQ(reason("restrict ssh-ed25519 " + ed25519), "");
    EXPECT_EQ(reason("from=\"10.0.0.0/8\",command=\"echo \\\"a b\\\"\" ssh-rsa " + rsa), "");
    EXPECT_EQ(reason("command=\"open ssh-rsa " + rsa), "it is not a public SSH key");
}

TEST(SshKey, WhatIsNoneSaysWhy) {
    EXPECT_EQ(reason("ssh-key 1234"), "\"ssh-key\" is not a type of SSH key");
    EXPECT_EQ(ssh_key_fault("ssh-ed25518 " + ed25519).hint, "did you mean \"ssh-ed25519\"?");
    EXPECT_EQ(reason("<ssh public key>"), "it is not a public SSH key");
    EXPECT_EQ(reason(ed25519), "it is not a public SSH key");
    EXPECT_EQ(reason("ssh-rsa"), "\"ssh-rsa\" is not followed by a key");
    EXPECT_EQ(reason("ssh-rsa AAAAB3NzaC1yc2E... a"), "the ssh-rsa key is shortened (\"...\")");
    EXPECT_EQ(reason("ssh-rsa not,base64"), "the text after \"ssh-rsa\" is not base64");
    EXPECT_EQ(reason("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC a@b"), "the ssh-rsa key is cut off");
    EXPECT_EQ(reason("ssh-rsa " + rsa.substr(0, rsa.size() - 4)), "the ssh-rsa key is cut off");
    EXPECT_EQ(reason("ssh-rsa " + ed25519), "the key is of type ssh-ed25519, not ssh-rsa");
    EXPECT_EQ(reason("ssh-ed25519 " + ed25519 + "AAAA"), "the ssh-ed25519 key is damaged");
    EXPECT_EQ(reason("ecdsa-sha2-nistp256 " + ecdsa),
              "the key is of type ecdsa-sha2-nistp384, not ecdsa-sha2-nistp256");
    EXPECT_EQ(reason("ssh-ed25519 AAAA"), "the ssh-ed25519 key is cut off");
    EXPECT_EQ(reason("ssh-rsa " + short_rsa), "sshd rejects RSA keys of 512 bits");
    EXPECT_EQ(reason("-----BEGIN OPENSSH PRIVATE KEY-----"), "it is a private key");
}

/// Made by crypt(3) of the password "x".
TEST(PasswordHash, WhatCryptWritesIsRight) {
    for (const std::string& hash :
         {std::string("$1$salt$9GHNWvCB1UrDZjPi7uags0"),
          std::string("$5$salt$eC8iHMk0B/acxRGi4idWiCK/.xXHLUsxovn4V591t3."),
          std::string("$6$salt$wZU8LXJfJJqoagopbB7RuK6JEotEMZ0CQDy0phpPAuLMYQFcmf6L6BdAbs/"
                      "Q7w7o1qsZ9pFqFVY4yuUSWgaYt1"),
          std::string("$6$rounds=5000$salt$wZU8LXJfJJqoagopbB7RuK6JEotEMZ0CQDy0phpPAuLMYQFcmf6L6"
                      "BdAbs/Q7w7o1qsZ9pFqFVY4yuUSWgaYt1"),
          std::string("$2b$05$abcdefghijklmnopqrstuuhKF09ZYWwH2zP/0fwE1X8e/Q1YNx/hO"),
          std::string("$7$CU..../....saltsalt$ZAXFMcUiDtPnGZmIfHqmXcEM53OIiBgNRWjT2OlNGG4"),
          std::string("$y$j9T$k2XAnEHBqQ1Ct2aMXFKNaR4OddqOgpaPj/"
                      "LQmB5RpN5$1BXwdnupKpcjaZHkHuHeC1c17QTBNLm1GzNnx05lJ90"),
          std::string("$gy$j9T$k2XAnEHBqQ1Ct2aMXFKNaR4OddqOgpaPj/"
                      "LQmB5RpN5$z1OjCUuqzH2rulhR.X4dely2n9BMcdY4s5Lo6ACpEy3"),
          std::string("*"), std::string("!"), std::string("!!"),
          std::string("!$1$salt$9GHNWvCB1UrDZjPi7uags0")}) {
        EXPECT_EQ(password_hash_fault(hash), "") << hash;
    }
}

TEST(PasswordHash, WhatIsNoneSaysWhatItIs) {
    for (const auto& [text, fault] :
         {std::pair<const char*, const char*>{"hunter2", "plain text"},
          {"", "empty, which allows login without a password"},
          {"$6$salt$hash",
           "a SHA-512 hash that is cut off: 4 characters after the salt instead of 86"},
          {"$6$salt", "a SHA-512 hash that is truncated"},
          {"$6$rounds=many$salt$x", "a SHA-512 hash whose \"rounds=\" is not a number"},
          {"$1$salt$9GHNWvCB1UrDZjPi7uag:0", "an MD5 hash with invalid characters"},
          {"$1$sa:t$9GHNWvCB1UrDZjPi7uags0", "an MD5 hash with an invalid salt"},
          {"$1$saltsaltsalt$9GHNWvCB1UrDZjPi7uags0",
           "an MD5 hash whose salt is longer than 8 characters"},
          {"$2b$10$abc", "a bcrypt hash that is corrupt or truncated"},
          {"$2b$abc", "a bcrypt hash without its cost"},
          {"$y$j9T$salt$hash", "a yescrypt hash that is corrupt or truncated"},
          {"$9$salt$hash", "a hash of a kind that crypt(3) does not support"}}) {
        EXPECT_EQ(password_hash_fault(text), fault) << text;
    }
}

}  // namespace edgegpu
