#include "support/written_secrets.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <set>
#include <string>

#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

#include "support/handles.hpp"
#include "support/private_key_text.hpp"
#include "support/secret_forms.hpp"
#include "support/secret_value.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view a_key = "a private key";
constexpr std::string_view a_token = "an access token";
constexpr std::string_view a_password = "a password";
constexpr std::string_view a_login = "a login at a registry";
constexpr std::string_view a_url = "a URL with a password";
constexpr std::string_view a_file = "passwords";
constexpr std::string_view a_client_token = "a client's token of NVIDIA's licence server";

using Pattern = Handle<pcre2_code, pcre2_code_free>;
using MatchData = Handle<pcre2_match_data, pcre2_match_data_free>;

/// A form of secrets. Of its groups the last one that took part is the secret.
struct Form {
    std::string_view kind;
    std::string pattern;
    /// Whether the text must look like chance, since the name alone says little ("token").
    bool random = false;
    /// Not looked for in comments and in sources of programs.
    bool setting = false;
};

// All of it is in one line, but for the last one. Repetitions that could be retried are bounded, so
// that a hostile line takes no longer.
const std::string value =
    R"re((?|"([^"\n]{0,4096})"|'([^'\n]{0,4096})'|([^\s"'`,;&|)}\]]{1,4096})))re";
const std::string separator =
    R"re((?:["']\h{0,8}:\h{0,8}|\h{0,8}:\h{1,8}(?:(?:&\w{1,64}|!!str)\h{1,8})?|\h{0,8}=(?!=)\h{0,8}))re";
/// The beginning of a name that ends with one of the words that follow.
const std::string name_with = R"re((?<![\w$.-])[\w.-]{0,48}?(?:)re";

std::vector<Form> all_forms() {
    return {
        {a_token, "(?-i)\\b((?:" + std::string(token_prefixes) + ")[\\w-]{20,})", true},
        {a_token, R"re((?-i)\b(eyJ[\w-]{8,}={0,2}\.eyJ[\w-]{8,}={0,2}\.[\w-]{16,}))re", true},
        // {"auths":
        {a_login, R"re((?-i)\b(eyJhdXRocyI6[\w+/=-]{20,}))re"},
        {a_key, R"re((?-i)\b(AGE-SECRET-KEY-1[A-Z0-9]{50,}))re"},
        {a_key, R"re(^(PuTTY-User-Key-File-\d))re"},
        {a_url, R"re(\b[a-z][a-z0-9+.-]{1,32}://[^\s/:@"'<>]{0,256}:([^\s/@"'<>]{1,1024})@[\w[])re",
         false, true},
        // Settings, by their names.
        {a_password,
         name_with + "password|passphrase|passcode|secret[_-]?(?:access[_-]?)?key|api[_-]?key|" +
             "account[_-]?key|access[_-]?key|client[_-]?secret|host[_-]?config[_-]?key|" +
             "private[_-]?key|preshared[_-]?key|psk|wep[_-]?key\\d?)" + separator + value,
         false, true},
        {a_password, name_with + R"re(passwd)\h{0,8}=(?!=)\h{0,8})re" + value, false, true},
        // An ampersand ends a value of a URL, but not of a setting that has a line of its own.
        {a_password,
         R"re(^\h{0,8}(?:export\h{1,8})?[\w.-]{0,48}?(?:password|passwd|passphrase|psk)\h{0,8}=)re"
         R"re(\h{0,8}(&[^\s&=;]{3,1024})\h{0,8}$)re",
         false, true},
        {a_token, name_with + "token|secret|authtok)" + separator + value, true, true},
        {a_token,
         R"re(\bauthorization["']?\h{0,8}[:=]\h{0,8}["']?(?:bearer|basic)\h{1,8}([\w+/=.~-]{16,}))re",
         true, true},
        // Options and input of programs.
        {a_password,
         R"re((?<!\S)--(?!no-)(?:[\w-]{1,32}-)?(?:password|passwd|passphrase)\h{1,8})re" + value,
         false, true},
        {a_token,
         R"re((?<!\S)--(?!no-)(?:[\w-]{1,32}-)?(?:token|secret|api-?key)\h{1,8})re" + value, true,
         true},
        {a_password,
         R"re(\bcurl\h[^\n]{0,512}?(?:-u|--user)[ =]{1,4}["']?[^\s:"']{1,64}:([^\s"']{1,256}))re",
         false, true},
        {a_password,
         R"re(\becho\h{1,8}["']?[\w.-]{1,32}:([^\s"'|]{1,256})["']?\h{0,8}\|\h{0,8}(?:sudo\h{1,8})?)re"
         R"re(chpasswd\b)re",
         false, true},
        {a_password,
         R"re(\becho\h{1,8}["']?([^\s"'|]{1,256})["']?\h{0,8}\|\h{0,8}(?:sudo\h{1,8})?passwd\h{1,8})re"
         R"re(--stdin)re",
         false, true},
        // netrc(5), named.conf, ipsec.secrets(5)
        {a_password,
         R"re(\bmachine\h{1,8}\S{1,256}\h{1,8}login\h{1,8}\S{1,256}\h{1,8}password\h{1,8})re"
         R"re((\S{1,1024}))re",
         false, true},
        {a_password, R"re(^\h{0,8}password\h{1,8}(\S{1,1024})\h{0,8}$)re", false, true},
        {a_password, R"re(^\h{0,8}secret\h{1,8}"([\w+/=]{16,}))re", true, true},
        {a_password, R"re(:\h{0,8}(?:PSK|EAP|XAUTH|NTLM)\h{1,8}"?([^\s"]{4,1024}))re", false, true},
        // A variable of a container, in YAML.
        {a_password,
         R"re(\bname:\h{0,8}["']?[\w.-]{0,48}?(?:PASSWORD|PASSWD|SECRET_KEY|API_KEY)["']?\h{0,8}\n)re"
         R"re(\h{0,64}value:\h{0,8})re" +
             value,
         false, true},
    };
}

struct CompiledForm {
    Form form;
    Pattern pattern;
};

const std::vector<CompiledForm>& compiled_forms() {
    static const std::vector<CompiledForm> compiled = [] {
        std::vector<CompiledForm> list;
        for (Form& form : all_forms()) {
            int code = 0;
            PCRE2_SIZE offset = 0;
            Pattern pattern(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(form.pattern.data()),
                                          form.pattern.size(), PCRE2_CASELESS | PCRE2_MULTILINE,
                                          &code, &offset, nullptr));
            if (pattern) {
                pcre2_jit_compile(pattern.get(), PCRE2_JIT_COMPLETE);
            }
            list.push_back({std::move(form), std::move(pattern)});
        }
        return list;
    }();
    return compiled;
}

/// At least 16 characters with letters and digits and some variety.
bool looks_random(std::string_view value) {
    const auto any = [&](int (*is)(int)) {
        return std::ranges::any_of(value, [&](unsigned char c) { return is(c) != 0; });
    };
    return value.size() >= 16 && any(std::isdigit) && any(std::isalpha) &&
           std::set<char>(value.begin(), value.end()).size() >= 8;
}

/// The extension of sources and documents, in which a setting is an example or a variable.
bool is_source_or_document(std::string_view name) {
    static const std::set<std::string, std::less<>> extensions{
        "adoc", "awk", "cjs", "vim", "pyi", "patch", "diff", "c",   "cc",  "cpp",  "cs",     "css",
        "cxx",  "fc",  "go",  "h",   "hh",  "hpp",   "html", "htm", "if",  "java", "js",     "lua",
        "md",   "mjs", "mo",  "php", "pl",  "pm",    "po",   "pot", "py",  "rb",   "rs",     "rst",
        "svg",  "te",  "cil", "tex", "ts",  "tsx",   "vue",  "xsd", "man", "gir",  "typelib"};
    const std::size_t dot = name.rfind('.');
    return dot != std::string_view::npos && extensions.contains(lower_case(name.substr(dot + 1)));
}

/// Whether it is a program in a language other than the shell's.
bool is_program_text(std::string_view content) {
    const std::string_view first = content.substr(0, std::min(content.find('\n'), content.size()));
    const auto names = [&](std::string_view interpreter) {
        return first.find(interpreter) != std::string_view::npos;
    };
    return first.starts_with("#!") &&
           (names("python") || names("perl") || names("node") || names("ruby"));
}

/// Files each of whose lines has a password, by their names.
bool is_password_file(std::string_view name) {
    static const std::set<std::string, std::less<>> names{
        ".pgpass",       "pgpass.conf",    "chap-secrets", "pap-secrets", "srp-secrets",
        "ipsec.secrets", "rsyncd.secrets", "chrony.keys",  "sasl_passwd", "ntp.keys"};
    return names.contains(name);
}

/// A token by which a virtual GPU gets its licence, by its name: its form is that of a JWT, which
/// need not be one that is recognised.
/// Whether the text is a JWT, and nothing else.
bool is_web_token(std::string_view text) {
    return text.starts_with("eyJ") && std::ranges::count(text, '.') == 2 &&
           text.find_first_of(" \t\r\n") == std::string_view::npos;
}

/// nvidia-gridd reads every file whose name ends so, in a directory that its configuration names.
bool is_client_token(std::string_view path, std::string_view content) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    const std::string_view text = trim(content);
    return name.ends_with(".tok") && !text.empty() &&
           (name.starts_with("client_configuration_token") ||
            path.find("/ClientConfigToken/") != std::string_view::npos || is_web_token(text));
}

bool is_comment(std::string_view line) {
    line = trim(line);
    return line.starts_with('#') || line.starts_with(';') || line.starts_with("//") ||
           line.starts_with("<!--");
}

std::string_view line_at(std::string_view content, std::size_t at) {
    const std::size_t begin = at == 0 ? 0 : content.rfind('\n', at - 1) + 1;
    return content.substr(begin, std::min(content.find('\n', at), content.size()) - begin);
}

/// Whether a comment of C's is open where a line begins. Only what is near is looked at, so that a
/// long text takes no longer.
bool is_inside_comment(std::string_view content, std::size_t begin) {
    constexpr std::size_t near = 4096;
    const std::size_t from = begin - std::min(begin, near);
    const std::string_view before = content.substr(from, begin - from);
    const std::size_t open = before.rfind("/*");
    return open != std::string_view::npos && before.find("*/", open) == std::string_view::npos;
}

/// Whether what is at `at` is in a line that is a comment in files of this name.
bool is_commented(std::string_view name, std::string_view content, std::size_t at) {
    const std::string_view line = line_at(content, at);
    const std::string_view text = trim(line);
    // Elsewhere these are an option on a line of its own, and cron's "* * * * *".
    const bool two_hyphens = name.ends_with(".sql") || name.ends_with(".lua");
    return is_comment(line) || (two_hyphens && text.starts_with("--")) ||
           (text.starts_with("* ") &&
            is_inside_comment(content, static_cast<std::size_t>(line.data() - content.data())));
}

/// Whether a value begins with a character that is syntax there: a tag, anchor or alias of YAML, a
/// comment, an operator, a pattern of the shell. In quotation marks it is none.
bool begins_with_syntax(std::string_view content, std::size_t begin, std::size_t end) {
    if (begin == 0 || std::string_view("!&#~*").find(content[begin]) == std::string_view::npos ||
        content[begin - 1] == '"' || content[begin - 1] == '\'') {
        return false;
    }
    const std::size_t before = content.find_last_not_of(" \t", begin - 1);
    const char separator = before == std::string_view::npos ? ' ' : content[before];
    if (separator == '=') {
        const bool complete =
            end >= content.size() || std::isspace(static_cast<unsigned char>(content[end])) != 0;
        return !complete || (content[begin] == '#' && before + 1 != begin);
    }
    return content[begin] != '~' && (separator == ':' || content[begin] != '!');
}

/// Reports secrets once for each line.
class Found {
public:
    explicit Found(std::string_view content) : content_(content) {}

    void add(std::size_t at, std::string_view kind) {
        const auto line = static_cast<std::uint32_t>(
            1 +
            std::count(content_.begin(), content_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
        const bool known = std::ranges::any_of(
            secrets, [&](const WrittenSecret& one) { return one.line == line; });
        if (!known) {
            secrets.push_back({line, kind});
        }
    }

    std::vector<WrittenSecret> secrets;

private:
    std::string_view content_;
};

/// A value of `"auth": "…"` is base64 of USER:PASSWORD; other programs have such a key, too.
void find_registry_logins(std::string_view content, Found& found) {
    constexpr std::string_view key = "\"auth\"";
    for (std::size_t at = content.find(key); at != std::string_view::npos;
         at = content.find(key, at + key.size())) {
        std::string_view rest = trim(content.substr(at + key.size(), 8192));
        if (!rest.starts_with(':')) {
            continue;
        }
        rest = trim(rest.substr(1));
        if (!rest.starts_with('"')) {
            continue;
        }
        rest.remove_prefix(1);
        const std::optional<std::string> login =
            base64_text(rest.substr(0, std::min(rest.find('"'), rest.size())));
        const std::size_t colon = login ? login->find(':') : std::string::npos;
        if (colon != std::string::npos && is_secret_value(login->substr(colon + 1))) {
            found.add(at, a_login);
        }
    }
}

void find_forms(std::string_view name, std::string_view content, bool settings, Found& found) {
    for (const CompiledForm& compiled : compiled_forms()) {
        if (!compiled.pattern || (compiled.form.setting && !settings)) {
            continue;
        }
        const MatchData match(
            pcre2_match_data_create_from_pattern(compiled.pattern.get(), nullptr));
        for (std::size_t at = 0; match && at < content.size();) {
            const int count =
                pcre2_match(compiled.pattern.get(), reinterpret_cast<PCRE2_SPTR>(content.data()),
                            content.size(), at, 0, match.get(), nullptr);
            if (count < 2) {
                break;
            }
            const PCRE2_SIZE* const range = pcre2_get_ovector_pointer(match.get());
            const std::size_t group = static_cast<std::size_t>(count) - 1;
            const std::string_view text =
                content.substr(range[2 * group], range[2 * group + 1] - range[2 * group]);
            const bool none = begins_with_syntax(content, range[2 * group], range[2 * group + 1]) ||
                              (compiled.form.setting && is_commented(name, content, range[0]));
            if (!none && is_secret_value(text) && (!compiled.form.random || looks_random(text))) {
                found.add(range[2 * group], compiled.form.kind);
            }
            at = std::max<std::size_t>(range[1], at + 1);
        }
    }
}

}  // namespace

std::string_view machine_secret(std::string_view kind) {
    return kind == a_login ? registry_login : kind == a_client_token ? licence_token : "";
}

std::vector<WrittenSecret> find_written_secrets(std::string_view path, std::string_view content) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    constexpr std::size_t beginning = 8192;
    if (is_binary_private_key(name, content)) {
        return {{0, a_key}};
    }
    if (is_client_token(path, content)) {
        return {{1, a_client_token}};
    }
    if (content.substr(0, beginning).find('\0') != std::string_view::npos) {
        return {};
    }
    Found found(content);
    for (const std::size_t at : find_private_keys(content)) {
        found.add(at, a_key);
    }
    find_registry_logins(content, found);
    find_forms(name, content, !is_source_or_document(name) && !is_program_text(content), found);
    if (is_password_file(name)) {
        std::size_t at = 0;
        for (const std::string_view line : lines_of(content)) {
            if (!trim(line).empty() && !is_comment(line)) {
                found.add(at, a_file);
                break;
            }
            at += line.size() + 1;
        }
    }
    std::ranges::sort(found.secrets, {}, &WrittenSecret::line);
    return std::move(found.secrets);
}

}  // namespace edgegpu
