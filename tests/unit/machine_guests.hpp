#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "execution/process.hpp"
#include "machine/guest.hpp"
#include "support/error.hpp"

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

    GuestResult run(std::string_view script, std::chrono::seconds /*limit*/) override {
        const Context ctx;
        const ProcessResult result =
            run_process(ctx, {"bash", "-c", programs + "\n" + std::string(script)});
        return {result.status, result.output, false};
    }
};

}  // namespace edgegpu::test
