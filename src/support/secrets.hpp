#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace edgegpu {

/// What replaces a secret.
inline constexpr std::string_view hidden_mark = "[hidden]";

/// `text` without what looks like a secret, wherever it comes from: user and password of URLs (even
/// malformed ones), values of their queries, authorization headers, `password=…` and the like,
/// password hashes of crypt(3), private keys, tokens of well-known forms; in any case of letters,
/// also percent-encoded or escaped with backslashes. Takes time proportional to the text's length.
[[nodiscard]] std::string hide_secrets(std::string_view text);

/// The value of a setting that should be a URL, as a message may quote it: without everything that
/// precedes an '@', spaces included, and without the values of its query.
[[nodiscard]] std::string url_to_show(std::string_view value);

/// The secrets that a build knows, to be hidden wherever they appear. Copies share one set; all
/// members may be called from any thread.
class Secrets {
public:
    Secrets();

    /// Hides this text from now on. A secret of less than 4 characters is ignored, as it would
    /// match everywhere; one of less than 8 is hidden only as a whole word.
    void add(std::string_view secret) const;
    /// The password, and both as encoded by HTTP's "Basic".
    void add_login(std::string_view user, std::string_view password) const;
    /// User, password and query of a URL.
    void add_url(std::string_view url) const;

    /// `hide_secrets`, and everything that was added: as it is, in another case of letters,
    /// percent-encoded or escaped with backslashes.
    [[nodiscard]] std::string hide(std::string_view text) const;

private:
    struct Known;
    std::shared_ptr<Known> known_;
};

}  // namespace edgegpu
