#include "blueprint/customizations/password_hash.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace edgegpu {

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
          {"$sha1$40000$jtNX3nZ2$4pbDet.vscBO9qEN/uWGseELyM0X",
           "an SHA-1 (PBKDF1) hash, a kind that is obsolete and not accepted"},
          {"$md5,rounds=1000$saltsalt$$BBdXCZv7CRtO/ELLjvxlX0",
           "a SunMD5 hash, a kind that is obsolete and not accepted"},
          {"$3$$a9f0dd57e1edab5bb55a9ac0a99c15ec",
           "an NT (MD4) hash, a kind that is obsolete and not accepted"},
          {"$2x$05$abcdefghijklmnopqrstuuhKF09ZYWwH2zP/0fwE1X8e/Q1YNx/hO",
           "a bcrypt \"$2x$\" hash, a kind that is obsolete and not accepted"},
          {"_J9..rasm3I3.7IOQ/Rk", "a BSDi DES hash, a kind that is obsolete and not accepted"},
          {"_J9..rasm", "plain text"},
          {"abiQ6Ep3EYTHc", "plain text, or a DES hash, a kind that is obsolete and not accepted"},
          {"$9$salt$hash", "a hash of an unknown kind"}}) {
        EXPECT_EQ(password_hash_fault(text), fault) << text;
    }
}

}  // namespace edgegpu
