#include "machine/rehearsal/upgrade_steps.hpp"

#include <fmt/format.h>

#include "embedded_upgrade_steps.hpp"
#include "machine/rehearsal/guest_files.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using std::chrono::seconds;

/// A commit of a few GB, read by an emulated machine.
constexpr seconds upgrade_limit{3600};
constexpr seconds step_limit{120};
constexpr seconds counting_wait{300};
/// For the other units of a boot.
constexpr seconds red_wait{600};

constexpr const char* authority_path = "/etc/edgegpu-test/authority.pem";
constexpr const char* change_path = "/etc/edgegpu-test/change";
constexpr const char* change_text = "made on the machine";
constexpr const char* red_check_path = "/etc/greenboot/check/required.d/99_edgegpu_test_red.sh";

/// Keys of a remote that say where it is, and how the server is trusted.
bool leads_somewhere(std::string_view key) {
    return key == "url" || key == "metalink" || key == "contenturl" || key == "proxy" ||
           key == "http2" || key.starts_with("tls-");
}

}  // namespace

std::string redirected_remote(const ImageRemote& remote, const std::string& url,
                              const std::string& authority) {
    const std::string section = fmt::format("[remote \"{}\"]", remote.name);
    std::string text;
    bool inside = false;
    for (const std::string_view line : lines_of(remote.text)) {
        const std::string_view trimmed = trim(line);
        if (trimmed.starts_with('[')) {
            inside = trimmed == section;
        }
        if (inside && leads_somewhere(trim(trimmed.substr(0, trimmed.find('='))))) {
            continue;
        }
        text.append(line).append("\n");
        if (trimmed == section) {
            text += fmt::format("url={}\ntls-ca-path={}\n", url, authority);
        }
    }
    return text;
}

CheckResult verification_check(const ImageRemote& remote) {
    CheckResult result;
    result.name = "signatures-verified";
    result.verdict = remote.verifies ? Verdict::passed : Verdict::failed;
    result.text = remote.verifies
                      ? fmt::format("remote {} accepts signed commits only", remote.name)
                      : fmt::format("remote {} accepts commits without a signature ({})",
                                    remote.name, remote.file);
    return result;
}

void redirect_remote(Guest& guest, const ImageRemote& remote, const std::string& url,
                     const std::string& certificate) {
    constexpr unsigned readable = 0644;
    put_file(guest, authority_path, certificate, readable);
    put_file(guest, remote.file, redirected_remote(remote, url, authority_path), readable);
}

Check upgrade_check(const CommitFacts& facts, const std::string& commit) {
    return {"upgrade",
            std::string(embedded::upgrade_bash),
            {{"PROGRAM", facts.upgrader}, {"WANTED", commit}},
            upgrade_limit,
            ""};
}

CheckResult download_check(const std::string& from, const std::string& to,
                           const std::optional<StaticDelta>& delta, const SentFiles& sent) {
    CheckResult result;
    result.name = "download";
    result.verdict = Verdict::passed;
    std::size_t objects = 0;
    for (const std::string& file : sent.files) {
        objects += static_cast<std::size_t>(
            file.ends_with(".filez") || file.ends_with(".dirtree") || file.ends_with(".dirmeta"));
    }
    const std::string took =
        fmt::format("{} in {} requests", human_size(sent.bytes), sent.requests);
    const bool used =
        sent.files.contains(fmt::format("{}/{}", delta_path(from, to), superblock_name));
    if (!used &&
        !sent.files.contains(fmt::format("objects/{}/{}.commit", to.substr(0, 2), to.substr(2)))) {
        result.verdict = Verdict::failed;
        result.text = "the machine says that it has upgraded, but never fetched the commit";
    } else if (delta && !used) {
        result.verdict = Verdict::failed;
        result.text = fmt::format(
            "{}: the repository has a static delta of {} between the two, "
            "and the machine did not use it",
            took, human_size(delta->bytes));
    } else if (!used) {
        result.text = took + "; the repository has no static delta between the two";
    } else if (delta && objects > delta->fallbacks) {
        result.text = fmt::format(
            "{} with the static delta of {}, {} objects beside it: libostree "
            "before 2023.7 does that unless it has the commit's metadata first",
            took, human_size(delta->bytes), objects - delta->fallbacks);
    } else {
        result.text = took + " with the static delta";
    }
    return result;
}

Check deployments_check(const std::vector<std::string>& commits) {
    return {"deployments",
            std::string(embedded::deployments_bash),
            {{"COMMITS", fmt::format("{}", fmt::join(commits, "\n"))}},
            step_limit,
            ""};
}

Check boot_counting_check() {
    return {"boot-counting",
            std::string(embedded::boot_counting_bash),
            {{"WAIT", std::to_string(counting_wait.count())}},
            counting_wait + step_limit,
            ""};
}

void make_change(Guest& guest) {
    put_file(guest, change_path, std::string(change_text) + '\n', 0644);
}

Check kept_change_check() {
    return {"change-kept",
            std::string(embedded::kept_change_bash),
            {{"FILE", change_path}, {"CONTENT", change_text}},
            step_limit,
            ""};
}

void put_red_check(Guest& guest, const std::string& commit) {
    put_file(guest, red_check_path,
             fill_in(embedded::red_check_sh,
                     {{"COMMIT", commit}, {"WAIT", std::to_string(red_wait.count())}}),
             0755);
}

BootState boot_state(Guest& guest) {
    const GuestResult answer = guest.run(embedded::boot_state_bash, step_limit);
    BootState state;
    for (const std::string_view line : lines_of(answer.output)) {
        const std::vector<std::string_view> words = words_of(line);
        if (words.size() == 2 && words[0] == "commit" && is_sha256(words[1])) {
            state.commit = words[1];
        } else if (words.size() == 2 && words[0] == "boot") {
            state.boot = words[1];
        }
    }
    return state;
}

}  // namespace edgegpu
