#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "execution/context.hpp"
#include "execution/kept_output.hpp"
#include "execution/process.hpp"

namespace edgegpu {

/// The log's record of a program, written when the value goes: also where the program did not end
/// by itself, or could not be started.
class ProgramRecord {
public:
    /// Both must live as long.
    ProgramRecord(const Context& ctx, const ProcessRequest& request)
        : log_(ctx.log), request_(request), wanted_(ctx.log.wants(LogLevel::debug)) {}
    ProgramRecord(const ProgramRecord&) = delete;
    ProgramRecord& operator=(const ProgramRecord&) = delete;
    ~ProgramRecord() {
        if (wanted_) {
            write();
        }
    }

    /// Adds output, in the order in which it came.
    void printed(std::string_view bytes) {
        if (wanted_) {
            output_.append(bytes);
        }
    }
    /// Without it the record says that edgegpu ended the program.
    void ended(int status, Ended reason) {
        status_ = status;
        reason_ = reason;
    }

private:
    void write() const noexcept;

    const Log& log_;
    const ProcessRequest& request_;
    bool wanted_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    KeptOutput output_;
    std::optional<int> status_;
    Ended reason_ = Ended::normally;
};

}  // namespace edgegpu
