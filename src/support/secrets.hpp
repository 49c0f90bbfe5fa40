#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace edgegpu {

/// What stands in the place of a secret.
inline constexpr std::string_view hidden_mark = "[hidden]";

/// `text` without what looks like a secret, wherever it comes from: user and password of URLs (also
/// of malformed ones), values of their queries, headers that authorize, `password=…` and its like,
/// password hashes of crypt(3), private keys, tokens of well-known forms. Letters of any case;
/// written with percent signs or backslashes, too. Takes time proportional to the text's length.
[[nodiscard]] std::string hide_secrets(std::string_view text);

/// The value of a setting that was to be a URL, as a message may quote it: without all that stands
/// before an '@', spaces included, and without the values of its query.
[[nodiscard]] std::string url_to_show(std::string_view value);

/// The secrets that a build knows, so that they are found wherever they turn up. Copies are the
/// same set; all members may be called from any thread.
class Secrets {
public:
    Secrets();

    /// Hides this text from now on. One shorter than 4 characters is not looked for: it is in every
    /// text; one shorter than 8 is looked for as a whole word.
    void add(std::string_view secret) const;
    /// The password, and what HTTP's "Basic" makes of the two.
    void add_login(std::string_view user, std::string_view password) const;
    /// User, password and query of a URL.
    void add_url(std::string_view url) const;

    /// `hide_secrets`, and all that was added: as it is, in letters of another case,
    /// percent-encoded or escaped with backslashes.
    [[nodiscard]] std::string hide(std::string_view text) const;

private:
    struct Known;
    std::shared_ptr<Known> known_;
};

}  // namespace edgegpu
