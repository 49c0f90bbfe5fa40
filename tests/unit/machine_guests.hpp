#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "execution/context.hpp"
#include "execution/process.hpp"
#include "machine/guest.hpp"
#include "machine/rehearsal/checks.hpp"
#include "machine/rehearsal/commit_facts.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu::test {

/// A guest that is none: it gives prepared answers, and keeps what it was asked.
class FakeGuest : public Guest {
public:
    std::function<GuestResult(const std::string&)> answer;
    std::vector<std::string> asked;

    GuestResult run(std::string_view script, std::chrono::seconds /*limit*/) override {
        asked.emplace_back(script);
        if (!answer) {
            throw Error("the guest is gone");
        }
        return answer(asked.back());
    }
};

/// This machine's own bash in place of a guest's, with functions in place of programs that ask the
/// guest's systemd or kernel: for what the scripts do with the answers.
class LocalGuest : public Guest {
public:
    /// bash that declares the functions
    std::string programs;

    /// Has scripts read `text` in place of the guest's file.
    void put(const std::string& path, const std::string& text) {
        const std::string place = directory_.path() / std::to_string(places_.size());
        write_file(place, text);
        places_.emplace_back(path, place);
    }

    GuestResult run(std::string_view script, std::chrono::seconds /*limit*/) override {
        const Context ctx;
        std::string text(script);
        for (const auto& [path, place] : places_) {
            for (std::size_t at = text.find(path); at != std::string::npos;
                 at = text.find(path, at + place.size())) {
                text.replace(at, path.size(), place);
            }
        }
        const ProcessResult result = run_process(ctx, {"bash", "-c", programs + "\n" + text});
        return {result.status, result.output, false};
    }

private:
    TemporaryDirectory directory_;
    std::vector<std::pair<std::string, std::string>> places_;
};

/// Of a commit that has a policy, and nothing else that is checked.
inline CommitFacts some_commit_facts() {
    CommitFacts facts;
    facts.commit = std::string(64, 'a');
    facts.selinux = "enforcing";
    return facts;
}

/// The check of this name of a machine that was installed with the commit, or upgraded to it.
inline Check check_named(const CommitFacts& facts, const std::string& name,
                         const std::vector<AllowedDenial>& allowed = {},
                         const CommitFacts* before = nullptr) {
    std::vector<Check> checks = image_checks(facts, before);
    for (Check& check : final_checks(facts, allowed)) {
        checks.push_back(std::move(check));
    }
    const auto found = std::ranges::find(checks, name, &Check::name);
    if (found == checks.end()) {
        throw Error("no check " + name);
    }
    return *found;
}

}  // namespace edgegpu::test
